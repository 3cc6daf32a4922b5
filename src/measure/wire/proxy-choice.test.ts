import { describe, expect, it } from 'vitest'
import { chooseProxy } from './proxy-choice.ts'

const both = { HTTP_PROXY: 'http://p:1', HTTPS_PROXY: 'http://s:2' }

describe('the proxy on the way to a target', () => {
  it.each([
    ['none asked for', 'http://h', {}, null],
    ['for plain HTTP', 'http://h', both, 'http://p:1'],
    ['for TLS', 'https://h', both, 'http://s:2'],
    ['for all', 'https://h', { ALL_PROXY: 'http://a:3' }, 'http://a:3'],
    ['lower case first', 'http://h', { ...both, http_proxy: 'http://l:4' }, 'http://l:4'],
    ['an empty variable says nothing', 'http://h', { HTTP_PROXY: ' ' }, null],
    ['without a scheme', 'http://h', { http_proxy: 'p:1' }, 'http://p:1'],
    ['never to localhost', 'http://localhost:8000', both, null],
    ['never to 127.0.0.0/8', 'http://127.3.2.1', both, null],
    ['never to ::1', 'http://[::1]:8000', both, null],
    ['a name that only begins like one of them', 'http://localhost.example', both, 'http://p:1'],
    ['all excepted', 'http://h', { ...both, NO_PROXY: '*' }, null],
    ['a host excepted', 'http://gpu.lan:8000', { ...both, NO_PROXY: 'a, gpu.lan' }, null],
    ['its subdomains too', 'http://x.gpu.lan', { ...both, no_proxy: 'gpu.lan' }, null],
    ['a suffix excepted', 'http://x.gpu.lan', { ...both, no_proxy: '.lan' }, null],
    ['a wildcard suffix', 'http://x.gpu.lan', { ...both, no_proxy: '*.gpu.lan' }, null],
    ['a name that only ends alike', 'http://mygpu.lan', { ...both, no_proxy: 'gpu.lan' }, 'http://p:1'],
    ['another port is not excepted', 'http://h:8000', { ...both, no_proxy: 'h:9000' }, 'http://p:1'],
    ['this port is', 'http://h:8000', { ...both, no_proxy: 'h:8000' }, null],
    ['a network', 'http://10.1.2.3', { ...both, no_proxy: '10.0.0.0/8' }, null],
    ['another network', 'http://11.1.2.3', { ...both, no_proxy: '10.0.0.0/8' }, 'http://p:1'],
    ['an IPv6 address', 'http://[fd00::1]:8', { ...both, no_proxy: '[fd00::1]' }, null],
  ])('%s', (_, target, environment, proxy) => {
    expect(chooseProxy(new URL(target), environment)).toBe(proxy)
  })
})
