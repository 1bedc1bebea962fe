/* Running sums and products of float16 numbers, with NumPy's bits and flags. */
#ifndef PIJIT_RUNTIME_UFUNCS_HALF_HALF_SCANS_H
#define PIJIT_RUNTIME_UFUNCS_HALF_HALF_SCANS_H

/* True if the processor has the instructions that scans need. */
int half_scans_run(void);

#endif
