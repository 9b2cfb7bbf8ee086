/// A new provisioning token: the device that presents it is bound to the account that created it.
public struct ProvisioningToken: Codable, Hashable, Sendable {
    /// Identifies the token in `ProvisioningStatus` and in lists of tokens; not a secret.
    public var id: String
    /// 32 characters of `A–Z a–z 0–9 _ -`. The hub does not keep it.
    public var token: String
    /// The hub's address, with the fingerprint of its trusted authority: a device needs both parts.
    public var hub: String
    /// Address and token as one enrolment string.
    public var enrolment: String
    /// s since 1970.
    public var expires: Int64

    public init(id: String, token: String, hub: String, enrolment: String, expires: Int64) {
        self.id = id
        self.token = token
        self.hub = hub
        self.enrolment = enrolment
        self.expires = expires
    }
}

/// The progress of a provisioning token.
public struct ProvisioningStatus: Codable, Hashable, Sendable {
    public enum Phase: String, Codable, CaseIterable, Sendable {
        /// No device has used the token yet.
        case waiting
        /// A device has used it and is bound; it has not been online since.
        case bound
        /// It is bound and has come online: provisioning is complete.
        case online
        /// The device that used it cannot be bound. The token is used up.
        case failed
    }

    /// The reason why a device could not be bound.
    public struct Failure: Codable, Hashable, Sendable {
        public var code: Int
        public var message: String
        public var remedy: String?

        public init(code: Int, message: String, remedy: String? = nil) {
            self.code = code
            self.message = message
            self.remedy = remedy
        }
    }

    public var id: String
    public var phase: Phase
    /// When it expires, while it waits: s since 1970.
    public var expires: Int64?
    /// `bound` and `online`: the device's name.
    public var name: String?
    /// `bound` and `online`.
    public var binding: BindingResponse?
    public var failure: Failure?

    public init(
        id: String, phase: Phase, expires: Int64? = nil, name: String? = nil, binding: BindingResponse? = nil,
        failure: Failure? = nil
    ) {
        self.id = id
        self.phase = phase
        self.expires = expires
        self.name = name
        self.binding = binding
        self.failure = failure
    }
}
