import COpenSSL
package import IoTCore

/// Certificates and keys as PEM text (RFC 7468), read and written by OpenSSL.
package enum PEM {
    /// Returns an `X509` that the caller frees.
    package static func certificate(_ pem: String) throws(IoTError) -> OpaquePointer {
        guard let certificate = read(pem, { PEM_read_bio_X509($0, nil, nil, nil) }) else {
            throw IoTError(.invalidConfiguration, "there is no certificate in PEM form")
        }
        return certificate
    }

    /// Returns an `EVP_PKEY` that the caller frees.
    package static func key(_ pem: String) throws(IoTError) -> OpaquePointer {
        // Without this, OpenSSL would ask for the password of an encrypted key on the terminal.
        let noPassword: @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 =
            { _, _, _, _ in 0 }
        guard let key = read(pem, { PEM_read_bio_PrivateKey($0, nil, noPassword, nil) }) else {
            throw IoTError(.invalidConfiguration, "there is no private key in PEM form without a password")
        }
        return key
    }

    private static func read(_ pem: String, _ body: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        let bytes = Array(pem.utf8)
        guard let bio = BIO_new_mem_buf(bytes, Int32(clamping: bytes.count)) else { return nil }
        defer { BIO_free(bio) }
        let result = withExtendedLifetime(bytes) { body(bio) }
        ERR_clear_error()
        return result
    }

    /// The text that `write` writes into a `BIO`.
    package static func text(_ write: (OpaquePointer) -> Int32) throws(IoTError) -> String {
        guard let bio = BIO_new(BIO_s_mem()) else { throw failure("write PEM") }
        defer { BIO_free(bio) }
        var length = 0
        guard write(bio) == 1, let text = iot_bio_text(bio, &length) else { throw failure("write PEM") }
        return String(decoding: UnsafeRawBufferPointer(start: text, count: length), as: UTF8.self)
    }

    /// An error with OpenSSL's reason.
    package static func failure(_ what: String) -> IoTError {
        let code = ERR_get_error()
        var words = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(code, &words, words.count)
        ERR_clear_error()
        let reason = String(decoding: words.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return IoTError(.internalFailure, "OpenSSL could not \(what): \(reason)")
    }
}
