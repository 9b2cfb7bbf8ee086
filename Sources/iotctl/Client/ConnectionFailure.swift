import AsyncHTTPClient
import Foundation
import IoTCore
import NIOCore
import NIOPosix
import NIOSSL

/// Describes for the user why a connection failed.
enum ConnectionFailure {
    static func describe(_ error: any Error, _ address: DaemonAddress) -> IoTError {
        switch address {
        case .unixSocket(let socket): describe(error, socket)
        case .remote(let remote): describe(error, remote)
        }
    }

    // MARK: Unix socket

    private static func describe(_ error: any Error, _ socket: SocketPath) -> IoTError {
        let path = socket.path
        let start = "start iotvideod, or name its socket with --socket or IOTCTL_SOCKET"
        guard let error = error as? IOError else {
            return IoTError(.daemonUnreachable, "\(path): \(error)", remedy: start, underlying: error)
        }
        switch error.errnoCode {
        case ENOENT:
            let places = socket.tried.joined(separator: " nor ")
            let message = socket.tried.count > 1 ? "there is neither \(places)" : "there is no \(places)"
            return IoTError(.daemonUnreachable, "no daemon listens: \(message)", remedy: start, underlying: error)
        case ECONNREFUSED:
            return IoTError(.daemonUnreachable, "no daemon listens on \(path)", remedy: start, underlying: error)
        case EACCES:
            let group = FileGroup.protecting(path)
            let others = socket.tried.dropLast().map { "; there is no \($0)" }.joined()
            return IoTError(
                .daemonUnreachable,
                "this user may not open \(path); \(group.map { "the group '\($0)'" } ?? "its owner") may\(others)",
                remedy: group.map { "run `sudo adduser \(NSUserName()) \($0)` and log in again" }
                    ?? "run iotctl as root, or as the user who runs the daemon",
                underlying: error)
        default:
            let reason = String(cString: strerror(error.errnoCode))
            return IoTError(.daemonUnreachable, "\(path): \(reason)", remedy: start, underlying: error)
        }
    }

    // MARK: Another machine

    private static func describe(_ error: any Error, _ remote: RemoteDaemon) -> IoTError {
        if isRejectedCertificate(error) {
            let file = remote.authorityFile.map { "\($0) is not" } ?? "no authority that this machine trusts is"
            return IoTError(
                .certificateRejected, "\(file) the authority of \(remote.url)'s certificate, or it names another host",
                remedy: "give --ca the keys/ca.pem of that daemon's data directory; use a name in its hub.tls.names",
                underlying: error)
        }
        let check = "check the address, and api.listen in that daemon's configuration"
        if let reason = handshakeReason(error) {
            return IoTError(
                .daemonUnreachable, "\(remote.url) does not speak TLS as expected: \(reason)", remedy: check,
                underlying: error)
        }
        let reason: String
        switch error {
        case let error as IOError: reason = String(cString: strerror(error.errnoCode))
        case let error as NIOConnectionError: reason = describe(error)
        case let error as HTTPClientError where [.connectTimeout, .tlsHandshakeTimeout].contains(error):
            reason = "no answer came in time"
        case let error as HTTPClientError where error == .remoteConnectionClosed:
            reason = "the connection was closed"
        default: reason = "\(error)"
        }
        return IoTError(.daemonUnreachable, "\(remote.url): \(reason)", remedy: check, underlying: error)
    }

    private static func describe(_ error: NIOConnectionError) -> String {
        if let first = error.connectionErrors.first?.error {
            return (first as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(first)"
        }
        return "the host '\(error.host)' was not found"
    }

    static func isRejectedCertificate(_ error: any Error) -> Bool {
        if error is NIOSSLExtraError { return true }
        return "\(error)".contains("CERTIFICATE_VERIFY_FAILED")
    }

    /// The library's reason, for example `WRONG_VERSION_NUMBER`, in lower case. The rest of its text is a place in its
    /// source.
    static func handshakeReason(_ error: any Error) -> String? {
        guard error is NIOSSLError || error is BoringSSLError else { return nil }
        let match = "\(error)".firstMatch(of: #/OPENSSL_internal:([A-Z0-9_ ]+)/#)
        let words = match.map { $0.output.1.lowercased().replacing("_", with: " ") }
        return words?.trimmingCharacters(in: .whitespaces) ?? "the handshake failed"
    }
}

/// The group whose members may open a file.
enum FileGroup {
    /// The group of the file, or of the nearest parent directory that is accessible; `nil` for root's group, which
    /// users do not join.
    static func protecting(_ path: String) -> String? {
        var path = path
        while path.count > 1 {
            var information = stat()
            if stat(path, &information) == 0 {
                guard information.st_gid != 0 else { return nil }
                return getgrgid(information.st_gid).map { String(cString: $0.pointee.gr_name) }
            }
            path = (path as NSString).deletingLastPathComponent
        }
        return nil
    }
}
