/// Whether a principal is connected to its hub. The values are those of the IoT video SDK guide.
public enum LinkStatus: Int, Sendable, Codable, CaseIterable {
    case unregistering = -1
    case registering = 0
    case online = 1
    case offline = 2
    case tokenFailed = 3
    case kickOff = 6

    public var name: String { String(describing: self) }
}
