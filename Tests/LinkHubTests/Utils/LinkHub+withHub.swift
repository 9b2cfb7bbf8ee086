import IoTCore
import IoTLink
import LinkHub
import Logging
import Testing

let quietLogger = {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return logger
}()

/// Runs a hub with its broker during `body`.
func withHub<Result: Sendable>(
    in directory: TemporaryDirectory, endpoint: BrokerSupervisor.EndpointChoice = .unixSocket, tls: HubTLS? = nil,
    limits: HubLimits = HubLimits(), _ body: @Sendable (LinkHub) async throws -> Result
) async throws -> Result {
    let hub = try LinkHub(
        HubConfiguration(dataDirectory: directory.path, endpoint: endpoint, tls: tls, limits: limits),
        logger: quietLogger)
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await hub.run() }
        do {
            try await hub.waitUntilReady()
            let result = try await body(hub)
            group.cancelAll()
            try await group.waitForAll()
            return result
        } catch {
            group.cancelAll()
            throw error
        }
    }
}

/// Runs a link session at the hub during `body`. The session is online when `body` begins.
func withSession<Result: Sendable>(
    _ hub: LinkHub, _ principal: Principal, _ token: String, renewsToken: Bool = true,
    prepare: (LinkSession) -> Void = { _ in }, _ body: (LinkSession) async throws -> Result
) async throws -> Result {
    var configuration = LinkConfiguration(principal: principal, token: .value(token), endpoint: hub.endpoint)
    configuration.renewsToken = renewsToken
    return try await withSession(configuration, prepare: prepare, body)
}

/// Like `withSession(_:_:_:renewsToken:prepare:_:)`, but for any endpoint.
func withSession<Result: Sendable>(
    _ configuration: LinkConfiguration, prepare: (LinkSession) -> Void = { _ in },
    _ body: (LinkSession) async throws -> Result
) async throws -> Result {
    let session = LinkSession(configuration: configuration, logger: quietLogger)
    prepare(session)
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await session.run() }
        do {
            try await session.wait(for: .online)
            let result = try await body(session)
            group.cancelAll()
            return result
        } catch {
            group.cancelAll()
            throw error
        }
    }
}

extension LinkSession {
    /// Returns when the session reaches this status.
    func wait(for status: LinkStatus) async throws {
        for await change in statusChanges() where change.status == status { return }
        throw IoTError(.linkUnavailable, "the session ended as \(current) and never was \(status)")
    }
}

extension LinkHub {
    /// The owner with a token, and a device of the owner.
    func ownerAndDevice(_ name: String = "front") async throws -> (
        owner: Principal, ownerToken: String, device: DeviceID, deviceToken: String
    ) {
        let owner = try await ensureOwnAccount()
        let (device, token) = try await ensureDevice(name: name)
        return (.user(owner), try await ownToken(), device, token)
    }
}
