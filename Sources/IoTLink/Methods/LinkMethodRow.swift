/// A row of the table of methods, without the types.
public struct LinkMethodRow: Sendable, Hashable {
    public let name: String

    /// The right that each kind of principal needs. The method does not exist for a kind that is missing.
    public let rights: [Principal.Kind: LinkRight]

    /// Whether the hub stores a successful answer on disk, in the transaction of the change, so that a repeated request
    /// gets it even after a restart. `false` when the answer contains a secret, which must not be on the disk.
    public let isDurable: Bool

    /// The longest time that the hub waits for the principal to which it forwards the request. A request for a longer
    /// time is refused. `nil` when the hub answers itself.
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
