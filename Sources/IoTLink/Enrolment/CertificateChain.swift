import COpenSSL
import Glibc
import IoTCore
import NIOCore

/// Fetches the certificate chain of a TLS server. It verifies nothing, and sends nothing but the handshake.
enum CertificateChain {
    /// Returns the chain, the server's own certificate first. Throws 21025 when no TLS server answers.
    static func fetch(
        host: String, port: Int, deadline: NIODeadline
    ) async throws(IoTError) -> [CertificateAuthority] {
        let outcome = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<[CertificateAuthority], IoTError>, Never>) in
            BlockingThread.start("iotlink-tls") {
                do throws(IoTError) {
                    continuation.resume(returning: .success(try fetchBlocking(host, port, deadline)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            } onFailure: { error in
                continuation.resume(returning: .failure(error))
            }
        }
        return try outcome.get()
    }

    private static func fetchBlocking(
        _ host: String, _ port: Int, _ deadline: NIODeadline
    ) throws(IoTError) -> [CertificateAuthority] {
        let socket = try connect(host, port, deadline)
        defer { close(socket) }
        guard let context = iot_tls_client_context() else { throw IoTError(.internalFailure, "no TLS context") }
        defer { SSL_CTX_free(context) }
        guard let session = SSL_new(context) else { throw IoTError(.internalFailure, "no TLS session") }
        defer { SSL_free(session) }
        SSL_set_fd(session, socket)
        _ = iot_ssl_set_server_name(session, host)
        while case let result = SSL_connect(session), result != 1 {
            switch SSL_get_error(session, result) {
            case SSL_ERROR_WANT_READ: try wait(socket, POLLIN, deadline, host, port)
            case SSL_ERROR_WANT_WRITE: try wait(socket, POLLOUT, deadline, host, port)
            default:
                ERR_clear_error()
                throw unreachable(host, port, "it does not support TLS 1.2 or newer")
            }
        }
        let chain = SSL_get_peer_cert_chain(session)
        return (0..<min(iot_x509_count(chain), 16)).compactMap { place in
            iot_x509_at(chain, place).flatMap { CertificateAuthority($0) }
        }
    }

    private static func connect(_ host: String, _ port: Int, _ deadline: NIODeadline) throws(IoTError) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, String(port), &hints, &list)
        guard result == 0 else { throw unreachable(host, port, String(cString: gai_strerror(result))) }
        defer { freeaddrinfo(list) }
        var failure = unreachable(host, port, "it has no address")
        var next = list
        while let candidate = next?.pointee {
            next = candidate.ai_next
            let flags = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            let descriptor = socket(candidate.ai_family, flags, 0)
            guard descriptor >= 0 else { continue }
            do throws(IoTError) {
                if Glibc.connect(descriptor, candidate.ai_addr, candidate.ai_addrlen) != 0 {
                    guard errno == EINPROGRESS else { throw unreachable(host, port, String(cString: strerror(errno))) }
                    try wait(descriptor, POLLOUT, deadline, host, port)
                }
                var error: Int32 = 0
                var length = socklen_t(MemoryLayout<Int32>.size)
                getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
                guard error == 0 else { throw unreachable(host, port, String(cString: strerror(error))) }
                return descriptor
            } catch {
                close(descriptor)
                failure = error
            }
        }
        throw failure
    }

    private static func wait(
        _ descriptor: Int32, _ events: Int32, _ deadline: NIODeadline, _ host: String, _ port: Int
    ) throws(IoTError) {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            let left = max(deadline - NIODeadline.now(), .zero).nanoseconds / 1_000_000
            let count = poll(&entry, 1, Int32(clamping: min(left, 10_000)))
            if count > 0 { return }
            if count < 0, errno != EINTR { throw unreachable(host, port, String(cString: strerror(errno))) }
            guard left > 0, count < 0 || left > 10_000 else { throw unreachable(host, port, "it does not answer") }
        }
    }

    private static func unreachable(_ host: String, _ port: Int, _ reason: String) -> IoTError {
        IoTError(.linkUnavailable, "the hub cannot be reached at \(host):\(port): \(reason)")
    }
}
