#define _GNU_SOURCE
#define OPENSSL_SUPPRESS_DEPRECATED
#include "reference.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ec.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

/* The C library's functions; this program's replacements call them. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static __thread uint64_t allocations;

void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    allocations++;
    return __libc_realloc(block, size);
}

uint64_t reference_allocations(void) { return allocations; }

int64_t reference_thread_cpu(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int64_t reference_process_cpu(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int seal(EVP_CIPHER_CTX *context, unsigned char *packet, int header, int count, uint64_t index) {
    unsigned char nonce[12] = {0};
    int length = 0;
    memcpy(nonce + 4, &index, sizeof index);
    return EVP_EncryptInit_ex(context, NULL, NULL, NULL, nonce) == 1
           && EVP_EncryptUpdate(context, NULL, &length, packet, header) == 1
           && EVP_EncryptUpdate(context, packet + header, &length, packet + header, count - header) == 1
           && EVP_EncryptFinal_ex(context, packet + count, &length) == 1
           && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, packet + count) == 1;
}

int64_t reference_fanout(const uint16_t *ports, int viewers, int frames, int64_t interval_ns,
                         int packets_a_frame, int packet_bytes) {
    static unsigned char frame[65536], burst[65536];
    unsigned char key[16] = {1};
    int64_t start = reference_thread_cpu();
    int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (descriptor < 0 || context == NULL || EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, key, NULL) != 1
        || packets_a_frame * packet_bytes > (int)sizeof burst) {
        return -1;
    }
    int size = 4 << 20;
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    uint64_t index = 0;
    int64_t result = 0;
    for (int round = 0; round < frames && result == 0; round++) {
        for (int viewer = 0; viewer < viewers && result == 0; viewer++) {
            for (int packet = 0; packet < packets_a_frame; packet++) {
                unsigned char *place = burst + packet * packet_bytes;
                memset(place, 0, 12);
                place[0] = 0x80;
                memcpy(place + 12, frame + packet * (packet_bytes - 28), packet_bytes - 28);
                if (!seal(context, place, 12, packet_bytes - 16, index++)) {
                    result = -1;
                }
            }
            struct sockaddr_in address = {
                .sin_family = AF_INET, .sin_port = htons(ports[viewer]), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
            struct iovec vector = {burst, (size_t)(packets_a_frame * packet_bytes)};
            char control[CMSG_SPACE(sizeof(uint16_t))] = {0};
            struct msghdr message = {.msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &vector,
                                     .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
            struct cmsghdr *head = CMSG_FIRSTHDR(&message);
            head->cmsg_level = IPPROTO_UDP;
            head->cmsg_type = UDP_SEGMENT;
            head->cmsg_len = CMSG_LEN(sizeof(uint16_t));
            *(uint16_t *)CMSG_DATA(head) = (uint16_t)packet_bytes;
            if (sendmsg(descriptor, &message, 0) < 0) {
                result = -1;
            }
        }
        due.tv_nsec += interval_ns;
        due.tv_sec += due.tv_nsec / 1000000000L;
        due.tv_nsec %= 1000000000L;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
    }
    EVP_CIPHER_CTX_free(context);
    close(descriptor);
    return result < 0 ? result : reference_thread_cpu() - start;
}

double reference_seal(int profile, int rounds) {
    static unsigned char packet[1300];
    unsigned char key[32] = {1}, digest[20];
    unsigned int digest_length;
    int length;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    HMAC_CTX *hmac = HMAC_CTX_new();
    HMAC_Init_ex(hmac, key, 20, EVP_sha1(), NULL);
    const EVP_CIPHER *cipher = profile == 0 ? EVP_aes_128_gcm() : profile == 1 ? EVP_aes_256_gcm() : EVP_aes_128_ctr();
    EVP_EncryptInit_ex(context, cipher, NULL, key, packet);
    int64_t start = reference_thread_cpu();
    for (int round = 0; round < rounds; round++) {
        if (profile < 2) {
            seal(context, packet, 12, 1200, (uint64_t)round);
            continue;
        }
        EVP_EncryptInit_ex(context, NULL, NULL, NULL, packet);
        EVP_EncryptUpdate(context, packet + 12, &length, packet + 12, 1188);
        HMAC_Init_ex(hmac, NULL, 0, NULL, NULL);
        HMAC_Update(hmac, packet, 1200);
        HMAC_Update(hmac, key, 4);
        HMAC_Final(hmac, digest, &digest_length);
        memcpy(packet + 1200, digest, 10);
    }
    double result = (double)(reference_thread_cpu() - start) / rounds;
    HMAC_CTX_free(hmac);
    EVP_CIPHER_CTX_free(context);
    return result;
}

static int any_certificate(int ok, X509_STORE_CTX *store) {
    (void)ok;
    (void)store;
    return 1;
}

static void move(SSL *from, SSL *to) {
    char bytes[16384];
    SSL_do_handshake(from);
    int count = BIO_read(SSL_get_wbio(from), bytes, sizeof bytes);
    /* One record after another, because a memory BIO does not keep datagrams apart. */
    for (int place = 0; place + 13 <= count;) {
        int length = 13 + ((unsigned char)bytes[place + 11] << 8 | (unsigned char)bytes[place + 12]);
        BIO_write(SSL_get_rbio(to), bytes + place, length);
        SSL_do_handshake(to);
        place += length;
    }
}

double reference_handshake(int rounds) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    SSL_CTX *context = SSL_CTX_new(DTLS_method());
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    SSL_CTX_use_certificate(context, certificate);
    SSL_CTX_use_PrivateKey(context, key);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, any_certificate);
    SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET);
    SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION);
    SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION);
    SSL_CTX_set_cipher_list(context, "ECDHE-ECDSA-AES128-GCM-SHA256");
    SSL_CTX_set1_groups_list(context, "X25519:P-256");
    SSL_CTX_set_tlsext_use_srtp(context, "SRTP_AEAD_AES_128_GCM");
    int64_t start = reference_thread_cpu();
    int good = 0;
    for (int round = 0; round < rounds; round++) {
        SSL *sides[2];
        for (int side = 0; side < 2; side++) {
            sides[side] = SSL_new(context);
            SSL_set_bio(sides[side], BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
            SSL_set_mtu(sides[side], 1200);
        }
        SSL_set_connect_state(sides[0]);
        SSL_set_accept_state(sides[1]);
        SSL_do_handshake(sides[0]);
        for (int step = 0; step < 8; step++) {
            move(sides[0], sides[1]);
            move(sides[1], sides[0]);
        }
        good += SSL_is_init_finished(sides[0]) && SSL_is_init_finished(sides[1]);
        SSL_free(sides[0]);
        SSL_free(sides[1]);
    }
    double result = good == rounds ? (double)(reference_thread_cpu() - start) / rounds : -1;
    SSL_CTX_free(context);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return result;
}
