import IoTCore

/// What a user does next with a device that was found.
public enum NextStep: String, Codable, CaseIterable, Sendable {
    /// Make it a camera of this daemon: `iotctl camera add`.
    case add
    /// A camera of ours at a hub, which nobody owns: `iotctl device bind`.
    case bind
    /// A camera of ours that waits for its network and its hub: `iotctl net add`.
    case provision
    /// A camera of ours that belongs to an account, who can share it.
    case owned
    /// Nothing that iotvideod can use is known of it.
    case unknown
}

extension DiscoveredDevice {
    /// A camera of ours says what it is.
    var isOurs: Bool { deviceID != nil || productID != nil }

    /// By what it says of itself alone.
    public var nextStep: NextStep {
        switch (deviceID, hasOwner) {
        case (.some, true?): return .owned
        case (.some, _): return .bind
        case (nil, _) where productID != nil: return .provision
        default: break
        }
        return onvifURL != nil || rtspURL != nil ? .add : .unknown
    }

    /// The device service of an ONVIF camera; one without TLS rather than one with a certificate of its own.
    public var onvifURL: String? {
        guard !isOurs else { return nil }
        let candidates = serviceURLs.filter { ServiceURL($0)?.path.lowercased().contains("onvif") ?? false }
        return candidates.first { $0.hasPrefix("http:") } ?? candidates.first
    }

    public var rtspURL: String? { serviceURLs.first { $0.hasPrefix("rtsp:") } }
}
