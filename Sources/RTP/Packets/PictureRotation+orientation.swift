package import IoTCore

/// The header extension `urn:3gpp:video-orientation` (3GPP TS 26.114 §7.4.5): its lowest two bits say how many quarters
/// the receiver turns the picture clockwise.
extension PictureRotation {
    package var orientation: UInt8 { UInt8((360 - rawValue) / 90 % 4) }

    /// Ignores the bits for another camera of a telephone and for a mirrored picture.
    package init(orientation: UInt8) {
        self = [.none, .right, .half, .left][Int(orientation & 3)]
    }
}
