import IoTCore
package import RTP

/// A stream that a server offers. The session description lists its tracks.
package struct ServedStream: Sendable, Hashable {
    package var name: String
    package var tracks: [RTPCodec]

    package init(name: String, tracks: [RTPCodec]) {
        self.name = name
        self.tracks = tracks
    }

    func description(address: IPAddress, sessionID: UInt64) -> String {
        StreamDescription(
            name: name, control: "*", range: .live,
            tracks: tracks.enumerated().map { index, codec in
                TrackDescription(
                    medium: codec.format?.kind.rawValue ?? "application", codec: codec,
                    control: StreamPath.control(ofTrack: index))
            }
        ).text(address: address, sessionID: sessionID)
    }
}

/// The transport of one track of a session.
package struct ServedTrack: Sendable, Hashable {
    package enum Transport: Sendable, Hashable {
        /// Channels of the connection.
        case interleaved(TransportHeader.Pair<UInt8>)
        /// Ports of the client.
        case datagrams(TransportHeader.Pair<UInt16>)
    }

    /// The index of the track in the stream.
    package var index: Int
    package var ssrc: UInt32
    package var transport: Transport

    package init(index: Int, ssrc: UInt32, transport: Transport) {
        self.index = index
        self.ssrc = ssrc
        self.transport = transport
    }
}

/// Where a track starts, for `RTP-Info`.
package struct ServedTrackStart: Sendable, Hashable {
    package var index: Int
    package var sequenceNumber: UInt16
    /// `nil` if the first packet is not known yet.
    package var timestamp: UInt32?

    package init(index: Int, sequenceNumber: UInt16, timestamp: UInt32?) {
        self.index = index
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
    }
}

/// The reason for refusing a request.
package struct RTSPRefusal: Error, Sendable, Hashable {
    package var status: RTSPStatus
    /// Text for people, after the standard phrase in the status line.
    package var reason: String?
    /// The number of the error; 0 for an error of the protocol.
    package var code: Int

    package init(_ status: RTSPStatus, _ reason: String? = nil, code: Int = 0) {
        self.status = status
        self.reason = reason
        self.code = code
    }
}

/// A request with its answer, for records.
package struct AnsweredRequest: Sendable, Hashable {
    package var method: RTSPMethod
    /// The URL of the request, which may contain a user name and a password.
    package var uri: String
    package var status: RTSPStatus
    /// The number of the error; 0 for success, and for an error of the protocol.
    package var code: Int
}
