import IoTCore
import MediaChannel
import RTP

@testable import Gateway

struct ScriptedStreams: GatewayStreams {
    let session: ScriptedSession

    func tracks(of device: String, _ definition: Definition) async throws -> [RTPCodec] {
        try session.note()
        return [RTPCodec(payloadType: 96, encodingName: "H264", clockRate: 90_000)]
    }

    func read(_ device: String, _ definition: Definition, sink: any ReaderSink) async throws -> StreamUse {
        try session.note()
        throw IoTError(.notFound)
    }
}
