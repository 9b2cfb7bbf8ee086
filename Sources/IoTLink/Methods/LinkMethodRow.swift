/// What the table says of a method, without its types.
public struct LinkMethodRow: Sendable, Hashable {
    public let name: String

    /// What the hub demands, by the kind of principal that asks; the method does not exist for a kind that is missing.
    public let rights: [Principal.Kind: LinkRight]

    /// Whether a success is remembered over a restart of the hub, in the transaction of its change. Not where the answer
    /// holds a secret, which would be kept on the disk.
    public let isDurable: Bool

    /// The longest time that the hub waits for the principal to which it sends the request on; what asks for more is
    /// refused. `nil` for what the hub answers itself.
    public let longestDeadline: Duration?

    public init(
        name: String, user: LinkRight?, device: LinkRight?, enrolment: LinkRight?, isDurable: Bool,
        longestDeadline: Duration?
    ) {
        self.name = name
        var rights: [Principal.Kind: LinkRight] = [:]
        rights[.user] = user
        rights[.device] = device
        rights[.enrolment] = enrolment
        self.rights = rights
        self.isDurable = isDurable
        self.longestDeadline = longestDeadline
    }
}
