/* Boolean masks: count of set elements, compaction, and masked stores. */
#ifndef PIJIT_RUNTIME_INDEXING_MASKS_H
#define PIJIT_RUNTIME_INDEXING_MASKS_H

#include "launcher/abi.h"

#define MASK_BLOCK 64 /* elements of a mask that are read at once */

typedef struct {
    int64_t first, second;
} Element16;

#endif
