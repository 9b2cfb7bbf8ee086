import Foundation
import IoTCore
import LinkHub
import Logging
import NIOCore
import ServiceLifecycle

/// The certificate of the API and the RTSP server if none is configured. This box's own authority signs it for every
/// name and address of both. A box that has joined another hub also has its own authority.
struct APICertificate: Service {
    /// How often the certificate is checked. The server checks the files every 30 s.
    private static let checkInterval = Duration.seconds(60)

    private let certificate: OwnCertificate
    private let logger: Logger

    init(_ configuration: Configuration, logger: Logger) throws(IoTError) {
        self.logger = logger
        certificate = try OwnCertificate(apiIn: configuration.dataDirectory) { Self.names(configuration) }
    }

    var files: APITLS { APITLS(certificateFile: certificate.certificateFile, keyFile: certificate.keyFile) }

    func run() async throws {
        let fingerprint = certificate.authorityFingerprint.map { Hex.encode([$0]).uppercased() }.joined(separator: ":")
        logger.notice(
            "this box's own authority signed the API's certificate",
            metadata: ["api.authority": "\(certificate.authorityFile)", "api.fingerprint": "SHA256 \(fingerprint)"])
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.checkInterval)
                guard !Task.isCancelled else { return }
                do throws(IoTError) {
                    if try certificate.refresh() { logger.notice("the API's certificate was renewed") }
                } catch {
                    logger.error("the API's certificate was not renewed: \(error.messageWithRemedy)")
                }
            }
        }
    }

    /// Sorted, so that the same names always compare equal.
    private static func names(_ configuration: Configuration) -> [String] {
        var names = Set(configuration.api.names + configuration.hub.tls.names + hostNames)
        for listen in [configuration.api.listen, configuration.rtsp.listen].compactMap({ $0 }) {
            if IPAddress.isUnspecified(listen.host) {
                names.formUnion(addresses)
            } else {
                names.insert(listen.host)
            }
            if listen.isLoopback || IPAddress.isUnspecified(listen.host) {
                names.formUnion(["localhost", "127.0.0.1", "::1"])
            }
        }
        return names.sorted()
    }

    /// The machine's host name, and its name in multicast DNS (RFC 6762).
    static let hostNames: [String] = {
        let name = ProcessInfo.processInfo.hostName.lowercased()
        guard HostName.isValid(name), name != "localhost" else { return [] }
        return name.contains(".") ? [name] : [name, name + ".local"]
    }()

    /// The addresses of the interfaces, without IPv6 link-local ones, which are meaningless without their interface.
    private static var addresses: [String] {
        let devices = (try? System.enumerateDevices()) ?? []
        return devices.compactMap { $0.address?.ipAddress }.filter { !$0.lowercased().hasPrefix("fe80:") }
    }
}
