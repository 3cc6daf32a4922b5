/** A noun as its count asks for it: noun(1, 'look') is "look", noun(2, 'query', 'queries') "queries"; 0 and 0.5 are many. */
export function noun(count: number | bigint, one: string, many = `${one}s`): string {
  return Number(count) === 1 ? one : many
}
