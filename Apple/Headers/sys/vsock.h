// Not in the package of the headers; as in xnu's bsd/sys/vsock.h.
#pragma once

#include <stdint.h>
#include <sys/ioccom.h>
#include <sys/socket.h>

#define VMADDR_CID_ANY (-1U)
#define VMADDR_CID_HYPERVISOR 0
#define VMADDR_CID_RESERVED 1
#define VMADDR_CID_HOST 2
#define VMADDR_PORT_ANY (-1U)
#define IOCTL_VM_SOCKETS_GET_LOCAL_CID _IOR('s', 209, uint32_t)

struct sockaddr_vm {
    uint8_t svm_len;
    sa_family_t svm_family;
    uint16_t svm_reserved1;
    uint32_t svm_port;
    uint32_t svm_cid;
};
