/** The documents of the flows. Their types stand on the floor that prints them; callers of flows find them here. */
export type * from '../report/documents.ts'
