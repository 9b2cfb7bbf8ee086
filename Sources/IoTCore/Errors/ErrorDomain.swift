/// A range of error numbers and who defines them. All but the last are from the table of the IoT video SDK guide, which
/// gives the numbers 8700–8798 to nobody.
public struct ErrorDomain: Sendable, Hashable {
    /// A lower-camel-case word.
    public let name: String
    public let range: ClosedRange<Int>
    public let description: String

    /// In ascending order.
    public static let all: [ErrorDomain] = [
        ErrorDomain(name: "accessServer", range: 8000...8499, description: "the hub: devices, bindings, routing"),
        ErrorDomain(name: "controlServer", range: 8500...8699, description: "the hub: requests for stored values"),
        ErrorDomain(name: "reserved", range: 8799...9999, description: "reserved"),
        ErrorDomain(name: "common", range: 10000...10999, description: "the vendor's servers: general"),
        ErrorDomain(name: "product", range: 11000...11999, description: "the vendor's servers: products and devices"),
        ErrorDomain(name: "user", range: 12000...12999, description: "the vendor's servers: users"),
        ErrorDomain(name: "customer", range: 13000...13999, description: "the vendor's servers: customers"),
        ErrorDomain(name: "storage", range: 14000...14999, description: "the vendor's servers: cloud storage"),
        ErrorDomain(name: "upgrade", range: 15000...15999, description: "the vendor's servers: firmware (UPG)"),
        ErrorDomain(name: "help", range: 16000...16999, description: "the vendor's servers: help centre"),
        ErrorDomain(name: "thirdParty", range: 17000...17999, description: "the vendor's servers: third parties"),
        ErrorDomain(name: "peerToPeer", range: 20000...20999, description: "calls and messages between terminals"),
        ErrorDomain(name: "client", range: 21000...21999, description: "the gateway, or the vendor's iOS SDK"),
        ErrorDomain(name: "android", range: 22000...22999, description: "the vendor's Android SDK"),
        ErrorDomain(name: "pc", range: 23000...23999, description: "the vendor's PC SDK"),
        ErrorDomain(name: "deviceSDK", range: 24000...24999, description: "the vendor's SDK for devices"),
        ErrorDomain(name: "iotvideod", range: 25000...25999, description: "iotvideod's own"),
    ]
}

extension ErrorCode {
    /// `nil` for a number that belongs to nobody.
    public var domain: ErrorDomain? {
        ErrorDomain.all.first { $0.range.contains(rawValue) }
    }
}
