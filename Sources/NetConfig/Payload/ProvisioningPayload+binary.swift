import IoTCore

// The older binary form: "IVQR", the kind (1 is a network's configuration; 2 shares a device and is not supported), and
// fields with one byte for the tag, one for the length, and the value. A digit of the text form is that number here, a
// letter is its ASCII code.
extension ProvisioningPayload {
    static let magic = Array("IVQR".utf8)
    private static let networkKind: UInt8 = 1

    func binaryBytes() throws(IoTError) -> [UInt8] {
        if isHidden { throw Self.unsupported("hidden", .binary, use: "wifi") }
        var bytes = Self.magic + [Self.networkKind]
        for field in fields {
            guard let ascii = field.tag.asciiValue else { throw IoTError(.internalFailure) }
            bytes += [UInt8(field.tag.wholeNumberValue ?? Int(ascii)), try Self.length(of: field.value, field.name)]
            bytes += field.value.utf8
        }
        return bytes
    }

    init(binary bytes: [UInt8]) throws(IoTError) {
        guard bytes.starts(with: Self.magic), bytes.dropFirst(Self.magic.count).first == Self.networkKind else {
            throw Self.malformed("the code does not begin with IVQR and the kind 1")
        }
        var fields: [Character: String] = [:]
        var rest = bytes.dropFirst(Self.magic.count + 1)
        while let tag = rest.popFirst() {
            guard let length = rest.popFirst(), rest.count >= Int(length),
                let value = String(validating: rest.prefix(Int(length)), as: UTF8.self),
                tag < 10 || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(tag)
            else { throw Self.malformed("the code ends inside a field, or a field is not text or has no known tag") }
            let name = Character(Unicode.Scalar(tag < 10 ? tag + UInt8(ascii: "0") : tag))
            guard fields.updateValue(value, forKey: name) == nil else {
                throw Self.malformed("the code holds a tag twice")
            }
            rest = rest.dropFirst(Int(length))
        }
        try self.init(fields: fields)
    }
}
