/// The rule for a device's changeable alias.
public enum DeviceName {
    /// 1 to 64 bytes of letters, digits, `_`, `-` and `.`, beginning with a letter or digit, that do not look like a
    /// device id. This way one argument can take a name or an id.
    public static func isValid(_ name: String) -> Bool {
        guard (1...64).contains(name.utf8.count), DeviceID(rawValue: name) == nil else { return false }
        guard let first = name.unicodeScalars.first,
            first.properties.isAlphabetic || first.properties.numericType != nil
        else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || "_-.".unicodeScalars.contains(scalar)
        }
    }
}
