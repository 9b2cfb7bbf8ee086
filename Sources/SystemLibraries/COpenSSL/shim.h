#pragma once
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/time.h>

/* Swift imports no function-like macros: each one that is used gets a function here. */

/* The flags of every DTLS context: the datagram size is ours to say, and there is neither resumption nor
   renegotiation. */
static inline void iot_dtls_context_harden(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION
                                     | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION);
    SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION);
}

static inline int iot_ssl_set_groups(SSL_CTX *context, const char *groups) {
    return (int)SSL_CTX_set1_groups_list(context, groups);
}

static inline void iot_ssl_set_mtu(SSL *ssl, long bytes) {
    SSL_set_mtu(ssl, bytes);
}

/* µs until the retransmission timer ends; -1 while none runs. */
static inline long iot_dtls_remaining_microseconds(SSL *ssl) {
    struct timeval remaining;
    if (DTLSv1_get_timeout(ssl, &remaining) != 1) {
        return -1;
    }
    return remaining.tv_sec * 1000000L + remaining.tv_usec;
}

/* 1 when a flight was sent again, 0 when it was not yet time, -1 when it was tried too often. */
static inline int iot_dtls_handle_timeout(SSL *ssl) {
    return (int)DTLSv1_handle_timeout(ssl);
}

static inline EVP_PKEY *iot_generate_p256_key(void) {
    return EVP_EC_gen("P-256");
}

/* Throws away what a memory BIO still holds. */
static inline void iot_bio_discard(BIO *bio) {
    (void)BIO_reset(bio);
}
