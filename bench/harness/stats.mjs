export const quantile = (values, p) => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * p;
  const low = sorted[Math.floor(at)];
  return low + (sorted[Math.ceil(at)] - low) * (at % 1);
};
export const median = (values) => quantile(values, 0.5);
/** Median and quartiles. */
export const spread = (values) => ({ median: median(values), q1: quantile(values, 0.25), q3: quantile(values, 0.75) });
/** How cost grows from one size to another: 1 is linear, 2 quadratic. */
export const exponent = ([sizeA, costA], [sizeB, costB]) => Math.log(costB / costA) / Math.log(sizeB / sizeA);
