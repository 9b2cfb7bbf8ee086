import Foundation
import GatewayAPI
import IoTCore
import MediaChannel
import NIOCore

extension CallerChannels {
    func send(_ id: String, _ message: ChannelMessage) async throws -> GatewayAPI.MessageResponse {
        let use = try await dataUse(id)
        return try await working(id) {
            switch message.responses {
            case .none:
                try await use.channel.send(message.data, patience: message.timeout)
                return GatewayAPI.MessageResponse(responses: [])
            case .one:
                let response = try await use.channel.ask(message.data, timeout: message.timeout)
                return GatewayAPI.MessageResponse(responses: [GatewayAPI.MessageData(response)])
            case .many:
                var responses: [GatewayAPI.MessageData] = []
                var size = 0
                let reader = try await use.channel.responses(to: message.data, timeout: message.timeout)
                do {
                    for try await response in reader {
                        size += response.readableBytes
                        guard size <= Self.maximumAnswer else {
                            throw IoTError(
                                .payloadTooLarge, "the responses have more than \(Self.maximumAnswer >> 20) MiB",
                                remedy: "read them as they come, with Accept: text/event-stream")
                        }
                        responses.append(GatewayAPI.MessageData(response))
                    }
                } catch let error as IoTError where error.code == .messageTimeout && !responses.isEmpty {
                    // What came in time is the answer.
                }
                return GatewayAPI.MessageResponse(responses: responses)
            }
        }
    }

    /// The most bytes of responses that are collected before they are returned together.
    private static let maximumAnswer = 4 << 20

    func responses(_ id: String, _ message: ChannelMessage) async throws -> MediaBody {
        let use = try await dataUse(id)
        let part = try session.take(.dataStreams)
        let reader = try await use.channel.responses(to: message.data, timeout: message.timeout)
        return await body(of: use, reader, part) { event in
            switch event {
            case .element(let data): try MessageEvent.response(GatewayAPI.MessageData(data)).serverSentEvent
            case .failed(let error): try MessageEvent.failed(APIError(error)).serverSentEvent
            case .end: try MessageEvent.end.serverSentEvent
            }
        }
    }

    func messages(_ id: String) async throws -> MediaBody {
        let use = try await dataUse(id)
        let part = try session.take(.dataStreams)
        let reader = try await use.channel.messages()
        return await body(of: use, reader, part) { event in
            switch event {
            case .element(let data): try ChannelDataEvent.message(GatewayAPI.MessageData(data)).serverSentEvent
            case .failed(let error): try ChannelDataEvent.failed(APIError(error)).serverSentEvent
            case .end: try ChannelDataEvent.end.serverSentEvent
            }
        }
    }

    func stream(
        _ id: String, _ messages: any AsyncSequence<ByteBuffer, any Error> & Sendable
    ) async throws -> DataReport {
        let use = try await dataUse(id)
        let part = try session.take(.dataStreams)
        defer { withExtendedLifetime(part) {} }
        return try await working(id) {
            var report = DataReport(messages: 0, bytes: 0)
            for try await message in messages {
                try session.lease.check()
                try await use.channel.send(message, patience: .seconds(60))
                report.messages += 1
                report.bytes += message.readableBytes
            }
            return report
        }
    }

    // MARK: Helpers

    private func dataUse(_ id: String) async throws -> ChannelRegistry.Use {
        let use = try await use(id)
        try session.requireControl(try await session.viewable(use.channel.device.rawValue))
        return use
    }

    /// The channel is in use until `work` ends.
    private func working<Value>(_ id: String, _ work: () async throws -> Value) async throws -> Value {
        await session.gateway.uses.beginWork(id)
        let result: Result<Value, any Error>
        do {
            result = .success(try await work())
        } catch {
            result = .failure(error)
        }
        await session.gateway.uses.endWork(id)
        return try result.get()
    }

    private func body(
        of use: ChannelRegistry.Use, _ reader: DataReader<ByteBuffer>, _ part: QuotaPart,
        _ format: @escaping @Sendable (DataBody<ByteBuffer>.Event) throws -> ServerSentEvent
    ) async -> MediaBody {
        await session.gateway.uses.add(reader, to: use.id)
        return DataBody(reader, lease: session.lease, format: format).body(part)
    }
}

extension GatewayAPI.MessageData {
    init(_ bytes: ByteBuffer) {
        self.init(data: Data(bytes.readableBytesView).base64EncodedString())
    }
}
