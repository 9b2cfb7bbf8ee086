import Foundation
import GatewayAPI
import IoTCore
import IoTLink
import MediaChannel
import NIOCore

extension CallerCameras {
    func data(_ name: String) async throws -> MediaBody {
        let camera = try await camera(name)
        let part = try session.take(.dataStreams)
        let reader = try await camera.takeData()
        return DataBody(reader, lease: session.lease) { event in
            switch event {
            case .element(let event): try CameraDataNotice(event).serverSentEvent
            case .failed(let error): try ChannelDataEvent.failed(APIError(error)).serverSentEvent
            case .end: try ChannelDataEvent.end.serverSentEvent
            }
        }.body(part)
    }

    func send(_ name: String, _ message: CameraMessage) async throws -> CameraDataReport {
        let camera = try await camera(name)
        guard let call = message.call else {
            guard let data = message.data else { throw IoTError(.invalidRequest, "give data or text") }
            return CameraDataReport(calls: try await camera.send(data, patience: message.timeout))
        }
        guard let request = message.request else {
            guard let data = message.data else { throw IoTError(.invalidRequest, "give data or text") }
            return CameraDataReport(calls: try await camera.send(data, to: call, patience: message.timeout))
        }
        if let error = message.error {
            try await camera.refuse(request, of: call, error)
        } else {
            try await camera.respond(
                to: request, of: call, message.data, isLast: message.isLast, patience: message.timeout)
        }
        return CameraDataReport(calls: 1)
    }
}

extension CameraDataNotice {
    init(_ event: CameraDataEvent) {
        switch event {
        case .opened(let call): self.init(.opened, call)
        case .message(let call, let data): self.init(.message, call, data: data)
        case .request(let call, let number, let responses, let data):
            self.init(.request, call, number, responses == .one ? .one : .many, data: data)
        case .finished(let call, let number): self.init(.finished, call, number)
        case .closed(let call): self.init(.closed, call)
        }
    }

    private init(
        _ event: Event, _ call: DataCall, _ request: UInt32? = nil, _ responses: MessageResponses? = nil,
        data: ByteBuffer? = nil
    ) {
        self.init(
            event, call: call.id, user: call.user.description, kind: call.kind, request: request,
            responses: responses, data: data.map { Data($0.readableBytesView).base64EncodedString() })
    }
}
