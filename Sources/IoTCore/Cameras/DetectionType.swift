/// What was noticed at a camera. The raw values are the names of the API; `mask` are the bits of the IoT video SDK.
public enum DetectionType: String, Sendable, Codable, CaseIterable {
    case motion, human, sound, call, infrared, doorbell, pet, car, cry, fire, smoke

    /// The bit of an event with recorded pictures.
    public static let hasVideo: UInt32 = 1 << 15

    public var mask: UInt32 {
        switch self {
        case .motion: 1 << 0
        case .human: 1 << 1
        case .sound: 1 << 2
        case .call: 1 << 6
        case .infrared: 1 << 16
        case .doorbell: 1 << 17
        case .pet: 1 << 20
        case .car: 1 << 21
        case .cry: 1 << 23
        case .fire: 1 << 24
        case .smoke: 1 << 25
        }
    }
}
