/* Boolean masks: count of set elements, compaction, and masked stores. */
#ifndef PIJIT_RUNTIME_INDEXING_MASKS_H
#define PIJIT_RUNTIME_INDEXING_MASKS_H

#include "launcher/abi.h"

#define MASK_BLOCK 64 /* elements of a mask that are read at once */

typedef struct {
    int64_t first, second;
} Element16;

/* Calls RUN(type) with a type of the element's size. */
#define OF_SIZE(size, RUN) \
    switch (size) { \
    case 1: RUN(uint8_t) break; \
    case 2: RUN(uint16_t) break; \
    case 4: RUN(uint32_t) break; \
    case 8: RUN(uint64_t) break; \
    default: RUN(Element16) break; \
    }

#endif
