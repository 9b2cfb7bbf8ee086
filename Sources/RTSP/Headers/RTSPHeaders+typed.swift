extension RTSPHeaders {
    /// The number of the request that a response answers (RFC 2326 §12.17).
    package var cseq: UInt32? {
        get { self[RTSPHeaderName.cseq].flatMap { UInt32($0) } }
        set { self[RTSPHeaderName.cseq] = newValue.map { String($0) } }
    }

    package var session: SessionHeader? {
        get { self[RTSPHeaderName.session].flatMap { SessionHeader(parsing: $0) } }
        set { self[RTSPHeaderName.session] = newValue?.text }
    }

    /// All transports that can be read, in order.
    package var transports: [TransportHeader] {
        get { self[RTSPHeaderName.transport].map(TransportHeader.parse) ?? [] }
        set { self[RTSPHeaderName.transport] = newValue.isEmpty ? nil : newValue.map(\.text).joined(separator: ",") }
    }

    package var range: RangeHeader? {
        get { self[RTSPHeaderName.range].flatMap { RangeHeader(parsing: $0) } }
        set { self[RTSPHeaderName.range] = newValue?.text }
    }

    package var rtpInfo: [RTPInfo] {
        get { self[RTSPHeaderName.rtpInfo].map(RTPInfo.parse) ?? [] }
        set { self[RTSPHeaderName.rtpInfo] = newValue.isEmpty ? nil : RTPInfo.text(newValue) }
    }

    /// The methods of `Public`; `nil` without that field.
    package var publicMethods: Set<RTSPMethod>? {
        guard self[RTSPHeaderName.isPublic] != nil else { return nil }
        return Set(elements(RTSPHeaderName.isPublic).map { RTSPMethod(rawValue: $0.uppercased()) })
    }

    /// The options that the receiver must support (RFC 2326 §12.32): `Require`.
    package var required: [String] { elements(RTSPHeaderName.require) }

    /// The options that the sender does not support (RFC 2326 §12.41).
    package var unsupported: [String] { elements(RTSPHeaderName.unsupported) }

    /// The challenges of a 401 response.
    package var challenges: [String] { all(RTSPHeaderName.authenticate) }

    /// The elements of a list, from all fields with this name.
    private func elements(_ name: String) -> [String] {
        all(name).flatMap { HeaderParameters.split(Substring($0), ",") }.prefix(HeaderParameters.maximumCount)
            .map { String($0) }
    }
}

/// The option of a back channel (ONVIF Streaming §5.3.1): the client sends sound to the camera.
package enum RTSPOption {
    package static let backChannel = "www.onvif.org/ver20/backchannel"
}
