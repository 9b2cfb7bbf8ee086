package import IoTCore
package import IoTLink
package import NIOCore
import NIOPosix
package import ThingModel

/// Connects a gateway to a device on its network.
package struct LANDialer: Sendable {
    /// For one address.
    private static let connectTimeout = TimeAmount.seconds(2)
    private static let beginTimeout = Duration.seconds(5)
    /// Of the device, that are tried. Anybody on the network can answer a search.
    private static let mostAddresses = 8

    /// What the gateway knows about the device.
    package struct Target: Sendable {
        package var device: DeviceID
        /// Of the device's key.
        package var fingerprint: KeyFingerprint
        package var place: LANPlace
        package var grant: String

        package init(device: DeviceID, fingerprint: KeyFingerprint, place: LANPlace, grant: String) {
            self.device = device
            self.fingerprint = fingerprint
            self.place = place
            self.grant = grant
        }
    }

    private let key: DeviceKey
    private let loops: any EventLoopGroup

    /// - Parameter key: the gateway's own.
    package init(key: DeviceKey, loops: any EventLoopGroup) {
        self.key = key
        self.loops = loops
    }

    /// Connects, and serves the connection until its end.
    ///
    /// - Parameters:
    ///   - begun: settled with the connection when the device has accepted the grant; with the reason if there is none:
    ///     8000 if nobody answers at any address, 25080 for another key, or the device's refusal.
    ///   - elsewhere: finds other addresses if nobody answers at the known ones.
    ///   - handler: answers the device's requests.
    package func run(
        to target: Target, begun: Readiness<LANConnection>,
        elsewhere: @escaping @Sendable () async -> [String] = { [] },
        handler: @escaping LinkSession.Handler
    ) async {
        var failure = IoTError(.deviceOffline, "the device has no address on the local network")
        for addresses in [{ target.place.addresses }, elsewhere] as [@Sendable () async -> [String]] {
            for address in await addresses().prefix(Self.mostAddresses) where !Task.isCancelled {
                do throws(IoTError) {
                    let client = try await connect(address, target)
                    return await serve(client, target, begun, handler)
                } catch {
                    // Another device at an old address says nothing about the next one.
                    if failure.code != .deviceKeyChanged { failure = error }
                }
            }
        }
        begun.settle(.failure(failure))
    }

    private func connect(_ address: String, _ target: Target) async throws(IoTError) -> LANConnection.Client {
        let secured = Readiness<Void>()
        do {
            let client: LANConnection.Client = try await ClientBootstrap(group: loops)
                .connectTimeout(Self.connectTimeout)
                .connect(host: address, port: target.place.port) { [key] channel in
                    channel.eventLoop.makeCompletedFuture {
                        let tls = try LANTLS.client(
                            to: target.device, expecting: target.fingerprint, key: key
                        ) { secured.settle(.failure($0)) }
                        try channel.pipeline.syncOperations.addHandler(tls)
                        try channel.pipeline.syncOperations.addHandler(HandshakeWatch(secured))
                        return try LANConnection.client(channel)
                    }
                }
            let limit = client.channel.eventLoop.scheduleTask(in: Self.connectTimeout) {
                secured.settle(.failure(IoTError(.messageTimeout, "\(address) did not answer")))
            }
            defer { limit.cancel() }
            do {
                try await secured.wait()
                return client
            } catch {
                // The channel must be served before it may be released.
                try? await client.executeThenClose { _, _ in }
                throw error
            }
        } catch let error as IoTError {
            throw error
        } catch {
            throw IoTError(
                .deviceOffline, "nobody answers at \(HostPort(host: address, port: target.place.port))",
                underlying: error)
        }
    }

    private func serve(
        _ client: LANConnection.Client, _ target: Target, _ begun: Readiness<LANConnection>,
        _ handler: @escaping LinkSession.Handler
    ) async {
        let connection = LANConnection(client.channel)
        try? await client.executeThenClose { inbound, outbound in
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await connection.run(inbound, outbound, limit: { Envelope.maximumSize }, handler: handler)
                }
                group.addTask {
                    do throws(IoTError) {
                        _ = try await connection.request(
                            LANMethod.begin, LANGrantText(grant: target.grant), timeout: Self.beginTimeout)
                        begun.settle(.success(connection))
                    } catch {
                        begun.settle(.failure(error))
                        connection.close(error)
                    }
                }
                await group.waitForAll()
            }
        }
        begun.settle(.failure(IoTError(.linkUnavailable, "the connection on the local network has ended")))
    }
}
