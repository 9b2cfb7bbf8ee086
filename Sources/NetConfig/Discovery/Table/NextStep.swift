import IoTCore

/// The user's next step with a found device.
public enum NextStep: String, Codable, CaseIterable, Sendable {
    /// Add it as a camera of this daemon: `iotctl camera add`.
    case add
    /// A camera of ours at a hub, without an owner: `iotctl device bind`.
    case bind
    /// A camera of ours that waits for its network and its hub: `iotctl net ap`.
    case provision
    /// A camera of ours with an owner, who can share it.
    case owned
    /// iotvideod cannot use the device.
    case unknown
}

extension DiscoveredDevice {
    /// For a camera of ours, which describes itself.
    var isOurs: Bool { deviceID != nil || productID != nil }

    /// Uses only the device's own description.
    public var nextStep: NextStep {
        switch (deviceID, hasOwner) {
        case (.some, true?): return .owned
        case (.some, _): return .bind
        case (nil, _) where productID != nil: return .provision
        default: break
        }
        return onvifURL != nil || rtspURL != nil ? .add : .unknown
    }

    /// An ONVIF camera's device service; preferably without TLS, because such certificates are self-signed.
    public var onvifURL: String? {
        guard !isOurs else { return nil }
        let candidates = serviceURLs.filter { ServiceURL($0)?.path.lowercased().contains("onvif") ?? false }
        return candidates.first { $0.hasPrefix("http:") } ?? candidates.first
    }

    public var rtspURL: String? { serviceURLs.first { $0.hasPrefix("rtsp:") } }
}
