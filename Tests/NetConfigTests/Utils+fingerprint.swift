import IoTCore

extension KeyFingerprint {
    /// Contains `:` and `/`, which scopes (URLs) and TXT strings must transport.
    static let example = KeyFingerprint("SHA256:oekVYFTgT6yJmunydRMs3Ael28TqLCrTof/G4NJTaB8")!
}
