import IoTCore
import IoTLink
import NIOConcurrencyHelpers

@testable import LinkHub

/// A broker within this process: clients with a credential are admitted, and messages are passed on unchanged.
final class InMemoryBroker: HubBroker {
    private struct State {
        var handlers: BrokerHandlers?
        /// The principals of the credentials, by credential id.
        var known: [String: Principal] = [:]
        var clients: [LinkAddress: AsyncStream<Envelope>.Continuation] = [:]
        var restart: CheckedContinuation<Void, Never>?
        var starts = 0
        var end: IoTError?
    }

    private let state = NIOLockedValueBox(State())

    var endpoint: LinkEndpoint { .unixSocket(path: "/nowhere") }
    var localEndpoint: LinkEndpoint { endpoint }
    var tlsEndpoint: LinkEndpoint? { nil }
    var authorityFingerprint: [UInt8]? { nil }
    var certificateFiles: (certificate: String, key: String)? { nil }
    var status: BrokerStatus { BrokerStatus(starts: state.withLockedValue { $0.starts }) }

    func run(_ handlers: BrokerHandlers) async throws {
        while !Task.isCancelled {
            let known = try await handlers.credentials { [state] in state.withLockedValue { $0.known = [:] } }
            state.withLockedValue { state in
                for credential in known { state.known[credential.tokenID] = credential.principal }
                state.handlers = handlers
                state.starts += 1
            }
            handlers.onReady()
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isOver = state.withLockedValue { state in
                        // It may have ended after it was ready.
                        let isOver = Task.isCancelled || state.end != nil
                        if !isOver { state.restart = continuation }
                        return isOver
                    }
                    if isOver { continuation.resume() }
                }
            } onCancel: {
                restart()
            }
            handlers.onLost()
            if let end = state.withLockedValue({ $0.end }) { throw end }
        }
    }

    /// Ends the broker for good.
    func end(_ error: IoTError) {
        state.withLockedValue { $0.end = error }
        restart()
    }

    /// Drops all credentials, and asks the hub for them again.
    func restart() {
        state.withLockedValue { state in
            defer { state.restart = nil }
            return state.restart
        }?.resume()
    }

    func send(_ outputs: [HubOutput]) {
        state.withLockedValue { state in
            for output in outputs {
                switch output {
                case .message(let address, let payload):
                    for envelope in EnvelopeBatch.parse(payload).envelopes { state.clients[address]?.yield(envelope) }
                case .addCredential(let credential, _): state.known[credential.tokenID] = credential.principal
                case .removeCredential(let id): state.known[id] = nil
                }
            }
        }
    }

    func waitUntilConfirmed(_ tokenID: String) async {}

    // MARK: Principals

    func knows(_ tokenID: String, of principal: Principal) -> Bool {
        state.withLockedValue { $0.known[tokenID] == principal }
    }

    func request(_ address: LinkAddress, _ method: String) async throws -> LinkReply? {
        let (stream, feed) = AsyncStream.makeStream(of: Envelope.self, bufferingPolicy: .bufferingNewest(16))
        let handlers = state.withLockedValue { state in
            state.clients[address] = feed
            return state.handlers
        }
        let wall = HubTime.now().wall
        let request = LinkRequest(
            id: RequestID.random(), method: method, params: [:], t: wall, deadline: wall + 30_000)
        handlers?.onMessage(UplinkMessage(address: address, payload: try Envelope.request(request).serialized()))
        for await envelope in stream {
            if case .reply(let reply) = envelope, reply.id == request.id { return reply }
        }
        return nil
    }
}
