import Foundation
import IoTCore
import LinkHub
import Logging
import NIOCore
import ServiceLifecycle

/// The API's certificate where none is configured: of this box's own authority, with every name and address under which
/// the API is reached. A box that has joined another's hub has an authority of its own, too.
struct APICertificate: Service {
    /// How often it is looked after; the server looks at its files every half minute.
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
            "the API's certificate is one of this box's own authority",
            metadata: ["api.authority": "\(certificate.authorityFile)", "api.fingerprint": "SHA256 \(fingerprint)"])
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.checkInterval)
                guard !Task.isCancelled else { return }
                do throws(IoTError) {
                    if try certificate.refresh() { logger.notice("the API's certificate was made anew") }
                } catch {
                    logger.error("the API's certificate was not made anew: \(error.messageWithRemedy)")
                }
            }
        }
    }

    /// Sorted, so that they differ only when they do.
    private static func names(_ configuration: Configuration) -> [String] {
        var names = Set(configuration.api.names + configuration.hub.tls.names + hostNames)
        if let listen = configuration.api.listen {
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

    /// What the machine calls itself, and what it is called by multicast DNS (RFC 6762).
    static let hostNames: [String] = {
        let name = ProcessInfo.processInfo.hostName.lowercased()
        guard HostName.isValid(name), name != "localhost" else { return [] }
        return name.contains(".") ? [name] : [name, name + ".local"]
    }()

    /// Of the interfaces; a link-local one of IPv6 means nothing without its interface.
    private static var addresses: [String] {
        let devices = (try? System.enumerateDevices()) ?? []
        return devices.compactMap { $0.address?.ipAddress }.filter { !$0.lowercased().hasPrefix("fe80:") }
    }
}
