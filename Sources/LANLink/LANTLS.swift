package import IoTCore
package import IoTLink
import NIOCore
package import NIOSSL
import Synchronization

/// TLS 1.3 between a gateway and a device, in which each side proves its Ed25519 key. No authority signs these keys: a
/// gateway knows the device's key, and the device compares the gateway's with the one in its grant.
package enum LANTLS {
    /// How long a peer may take for the end of a connection.
    private static let shutdownTimeout = TimeAmount.milliseconds(500)

    /// The name with which a gateway says in its first message which of a box's devices it means (RFC 6066 §3).
    package static func serverName(of device: DeviceID) -> String { "\(device.rawValue).iotvideod" }

    package static func device(ofServerName name: String?) -> DeviceID? {
        guard let name, let label = name.split(separator: ".").first else { return nil }
        let device = DeviceID(rawValue: label.lowercased())
        return device.flatMap { serverName(of: $0) == name.lowercased() ? $0 : nil }
    }

    /// The gateway's side.
    ///
    /// - Parameter refuse: called with 25080 if the peer has another key than the device.
    package static func client(
        to device: DeviceID, expecting fingerprint: KeyFingerprint, key: DeviceKey,
        refuse: @escaping @Sendable (IoTError) -> Void
    ) throws -> NIOSSLClientHandler {
        var configuration = TLSConfiguration.makeClientConfiguration()
        try prepare(&configuration, key)
        return try NIOSSLClientHandler(
            context: NIOSSLContext(configuration: configuration), serverHostname: serverName(of: device),
            customVerificationCallback: { certificates, verified in
                let seen = publicKey(in: certificates)?.fingerprint
                guard seen != fingerprint else { return verified.succeed(.certificateVerified) }
                refuse(
                    IoTError(
                        .deviceKeyChanged,
                        "who answers on the network has the key \(seen.map(\.description) ?? "of another kind"), not the "
                            + "device's \(fingerprint)"))
                verified.succeed(.failed)
            })
    }

    /// The devices' side of a listener.
    ///
    /// - Parameter key: of one of the devices; `nil` for a device that is not here.
    package static func serverContext(
        key: @escaping @Sendable (DeviceID) -> DeviceKey?
    ) throws -> NIOSSLContext {
        // Only for clients that name no device, who cannot know this key.
        let unnamed = DeviceKey()
        let certificate = try NIOSSLCertificate(bytes: try LANCertificate.make(for: unnamed), format: .der)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)], privateKey: .privateKey(try privateKey(unnamed)))
        try prepare(&configuration, nil)
        configuration.sslContextCallback = { values, promise in
            promise.completeWith(
                Result {
                    guard let device = device(ofServerName: values.serverHostname), let key = key(device) else {
                        throw IoTError(.targetNotFound)
                    }
                    var mine = NIOSSLContextConfigurationOverride()
                    mine.certificateChain = [
                        .certificate(try NIOSSLCertificate(bytes: try LANCertificate.make(for: key), format: .der))
                    ]
                    mine.privateKey = .privateKey(try privateKey(key))
                    return mine
                })
        }
        return try NIOSSLContext(configuration: configuration)
    }

    /// - Parameter accept: called with the key that the gateway has proved.
    package static func server(
        _ context: NIOSSLContext, accept: @escaping @Sendable (DevicePublicKey) -> Void
    ) -> NIOSSLServerHandler {
        NIOSSLServerHandler(
            context: context,
            customVerificationCallback: { certificates, verified in
                guard let key = publicKey(in: certificates) else { return verified.succeed(.failed) }
                accept(key)
                verified.succeed(.certificateVerified)
            }, configuration: .init())
    }

    private static func prepare(_ configuration: inout TLSConfiguration, _ key: DeviceKey?) throws {
        configuration.minimumTLSVersion = .tlsv13
        configuration.trustRoots = .certificates([])
        // The callbacks decide; this makes each side ask for the other's certificate.
        configuration.certificateVerification = .noHostnameVerification
        configuration.signingSignatureAlgorithms = [.ed25519]
        configuration.verifySignatureAlgorithms = [.ed25519]
        configuration.shutdownTimeout = shutdownTimeout
        guard let key else { return }
        configuration.certificateChain = [
            .certificate(try NIOSSLCertificate(bytes: try LANCertificate.make(for: key), format: .der))
        ]
        configuration.privateKey = .privateKey(try privateKey(key))
    }

    private static func privateKey(_ key: DeviceKey) throws -> NIOSSLPrivateKey {
        try NIOSSLPrivateKey(bytes: Array(key.pem.utf8), format: .pem)
    }

    private static func publicKey(in certificates: [NIOSSLCertificate]) -> DevicePublicKey? {
        guard let document = try? certificates.first?.extractPublicKey().toSPKIBytes() else { return nil }
        return DevicePublicKey(subjectPublicKeyInfo: document)
    }
}
