#pragma once
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/time.h>

/* Swift imports no function-like macros: each one that is used gets a function here. */

/* The flags of every DTLS context: the datagram size is ours to say, and there is neither resumption nor
   renegotiation. */
static inline void iot_dtls_context_harden(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION
                                     | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    /* A connection that is up has little to say by DTLS: it keeps no buffers for it, 34 KiB. */
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
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

/* A context for TLS 1.2 and newer; whom to trust is added to it. */
static inline SSL_CTX *iot_tls_client_context(void) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (context == NULL) {
        return NULL;
    }
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
                                  | SSL_MODE_RELEASE_BUFFERS);
    return context;
}

static inline int iot_ssl_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline int iot_x509_count(const STACK_OF(X509) *chain) {
    return chain == NULL ? 0 : sk_X509_num(chain);
}

static inline X509 *iot_x509_at(const STACK_OF(X509) *chain, int place) {
    return sk_X509_value(chain, place);
}

/* Which kinds of subject alternative names there are: 1 DNS names, 2 addresses, 3 both. */
static inline int iot_x509_name_kinds(X509 *certificate) {
    GENERAL_NAMES *names = (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    int kinds = 0;
    for (int i = 0; names != NULL && i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        kinds |= name->type == GEN_DNS ? 1 : name->type == GEN_IPADD ? 2 : 0;
    }
    GENERAL_NAMES_free(names);
    return kinds;
}

/* Adds an extension in the notation of x509v3_config(5); `value` must not come from a stranger. */
static inline int iot_x509_add_extension(X509 *certificate, X509 *issuer, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509V3_set_ctx_nodb(&context);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    if (extension == NULL) {
        return 0;
    }
    int result = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return result;
}

/* The text a memory BIO holds, not terminated; NULL when it is empty. */
static inline char *iot_bio_text(BIO *bio, long *length) {
    char *text = NULL;
    *length = BIO_get_mem_data(bio, &text);
    return text;
}
