import IoTCore

extension KeyFingerprint {
    /// With each character that an URL or a TXT string must carry.
    static let example = KeyFingerprint("SHA256:oekVYFTgT6yJmunydRMs3Ael28TqLCrTof/G4NJTaB8")!
}
