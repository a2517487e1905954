/* The types of NCCL that src/nccl/transpose.c uses, for machines without it.  test_nccl_order has the
 * calls, under other names. */
#ifndef ORDER_NCCL_H
#define ORDER_NCCL_H

typedef struct ncclComm *ncclComm_t;
typedef enum { ncclSuccess = 0, ncclInvalidArgument = 4 } ncclResult_t;
typedef enum { ncclUint8 = 1 } ncclDataType_t;

#endif /* ORDER_NCCL_H */
