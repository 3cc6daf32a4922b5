/** The id of the request at this place in a file that gives none, `r0000012`: in the file's order also when sorted as text. */
export function requestId(index: number): string {
  return `r${String(index).padStart(7, '0')}`
}
