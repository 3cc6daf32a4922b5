import { defineConfig, type ViteUserConfig } from 'vitest/config'

const config: ViteUserConfig = defineConfig({
  cacheDir: '.vitest',
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Timing code under test shares two cores with its servers: more workers would measure each other.
    maxWorkers: 2,
  },
})

export default config
