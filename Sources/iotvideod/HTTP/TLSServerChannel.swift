import Foundation
import HummingbirdCore
import IoTCore
import IoTLink
import Logging
import NIOCore
import NIOSSL
import Synchronization

/// The server's current certificate. New connections use the newest.
final class TLSContext: Sendable {
    private struct State {
        var context: NIOSSLContext
        var stamp: [Date]
    }

    private let files: APITLS
    private let state: Mutex<State>

    /// - Throws: 25002 if the files cannot be read or do not match.
    init(_ files: APITLS) throws(IoTError) {
        self.files = files
        state = Mutex(State(context: try Self.load(files), stamp: Self.stamp(files)))
    }

    var current: NIOSSLContext { state.withLock { $0.context } }

    /// Reloads the files if they have changed. The old certificate stays in use while the files do not match, for
    /// example between the replacement of the first and the second.
    ///
    /// - Returns: whether the certificate was replaced.
    func refresh() throws(IoTError) -> Bool {
        let stamp = Self.stamp(files)
        guard stamp != state.withLock({ $0.stamp }) else { return false }
        let context = try Self.load(files)
        state.withLock { state in
            state.context = context
            state.stamp = stamp
        }
        return true
    }

    /// How often the certificate's files are checked.
    private static let check = Duration.seconds(30)

    /// Reloads the certificate's files after a change, until cancelled. Without TLS it only waits.
    static func watch(_ tls: TLSContext?, _ logger: Logger) async throws {
        while true {
            try await Task.sleep(for: check)
            guard let tls else { continue }
            do throws(IoTError) {
                if try tls.refresh() { logger.notice("the API's certificate was replaced") }
            } catch {
                logger.error("the API's new certificate is not used: \(error.messageWithRemedy)")
            }
        }
    }

    private static func stamp(_ files: APITLS) -> [Date] {
        [files.certificateFile, files.keyFile].map { file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: file)
            return attributes?[.modificationDate] as? Date ?? .distantPast
        }
    }

    private static func load(_ files: APITLS) throws(IoTError) -> NIOSSLContext {
        do {
            guard
                let keyText = try PrivateFile.bytes(
                    of: files.keyFile, limit: Configuration.maximumFileSize, secrecy: .ownerAndReadingGroup)
            else { throw PrivateFile.missing(files.keyFile) }
            let chain = try NIOSSLCertificate.fromPEMFile(files.certificateFile)
            let key = try NIOSSLPrivateKey(bytes: keyText, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw IoTError(
                .invalidConfiguration,
                "the API's certificate \(files.certificateFile) or key \(files.keyFile) cannot be used: \(error)",
                underlying: error)
        }
    }
}

/// Adds TLS to a server's connections. Unlike Hummingbird's TLS channel, it can replace its certificate while it runs.
struct TLSServerChannel<Base: ServerChildChannel>: ServerChildChannel {
    typealias Value = Base.Value

    let base: Base
    let context: TLSContext

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context.current))
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}
