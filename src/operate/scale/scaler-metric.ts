/** The external metric of our scalers: `scale serve` tells it, and for a HorizontalPodAutoscaler a metrics adapter makes it from a query. */
export const scalerMetric = 'plimsoll_in_flight'
