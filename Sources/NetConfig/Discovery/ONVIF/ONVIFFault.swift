/// A SOAP fault (SOAP 1.2 part 1 §5.4).
enum ONVIFFault {
    /// Whether the login was refused (ONVIF Core §5.8.2, `ter:NotAuthorized`).
    static func isRefusal(_ fault: XMLElement) -> Bool {
        codes(fault).contains { ["NotAuthorized", "FailedAuthentication", "OperationProhibited"].contains($0) }
    }

    static func words(_ fault: XMLElement) -> String {
        let reason = fault.descendant("Reason", "Text")?.text ?? fault.child("faultstring")?.text ?? ""
        let words = DeviceText.clean(reason)
        return words.isEmpty ? DeviceText.clean(codes(fault).last ?? "a fault") : words
    }

    /// Code and subcodes, beginning with the outermost, without prefixes.
    private static func codes(_ fault: XMLElement) -> [String] {
        var codes: [String] = []
        var next = fault.child("Code")
        while let code = next, codes.count < 8 {
            if let value = code.child("Value")?.text { codes.append(code.qualifiedName(value).local) }
            next = code.child("Subcode")
        }
        return codes
    }
}
