/* To be included before a file of src/cuda or src/nccl: its calls of the runtime, and of what lies
 * below the engines, become those of tests/order. */
#ifndef ORDER_RENAME_H
#define ORDER_RENAME_H

#include "order.h"

#define cudaGetLastError order_get_last_error
#define cudaGetDeviceCount order_get_device_count
#define cudaGetDevice order_get_device
#define cudaSetDevice order_set_device
#define cudaDeviceSynchronize order_device_synchronize
#define cudaDeviceCanAccessPeer order_can_access_peer
#define cudaDeviceEnablePeerAccess order_enable_peer
#define cudaDeviceGetStreamPriorityRange order_priorities
#define cudaStreamCreateWithPriority order_stream_create
#define cudaStreamDestroy order_stream_destroy
#define cudaStreamSynchronize order_stream_synchronize
#define cudaStreamWaitEvent order_stream_wait
#define cudaEventCreateWithFlags order_event_create
#define cudaEventDestroy order_event_destroy
#define cudaEventRecord order_event_record
#define cudaMemcpyAsync order_copy
#define cudaMemcpy2DAsync order_copy_2d
#define cudaMemPoolCreate order_pool_create
#define cudaMemPoolSetAccess order_pool_access
#define cudaMemPoolDestroy order_pool_destroy
#define cudaMallocFromPoolAsync order_malloc
#define cudaMallocAsync order_malloc_plain
#define cudaFreeAsync order_free
#define cudaHostAlloc order_host_alloc
#define cudaFreeHost order_host_free

#define tsw_cuda_fail order_report
#define tsw_cuda_also order_also
#define tsw_cuda_reach order_reach
#define tsw_cuda_launch order_launch
#define tsw_cuda_grid order_grid
#define tsw_cuda_transpose order_transpose
#define tsw_cuda_multi multi_under_test

#include "../src/cuda/runtime.h"

#endif /* ORDER_RENAME_H */
