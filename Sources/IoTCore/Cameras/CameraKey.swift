/// One key of `CameraSettings`: its names, where it may be used, and how its value is read, checked and written.
package struct CameraKey: Sendable {
    /// The form of a value.
    package enum Form: Sendable, Hashable {
        case text
        /// In a configuration file, it is relative to that file.
        case path
        /// An `rtsp://` or `rtsps://` address, a `v4l2:` device, or a file's path or URL. In a configuration file, a path is relative
        /// to that file.
        case source
        /// Several of them, separated by spaces.
        case sources
        case wholeNumber(ClosedRange<Int>)
        case choice([String])
    }

    /// The part of a camera that a key configures.
    package enum Part: Sendable {
        /// The device's identity. It cannot be changed: another value makes another device.
        case device
        /// What is opened, and how. `POST /v1/camera-tests` tries these settings without adding a camera.
        case source
        case viewers
        case loudspeaker
        /// Which calls it takes.
        case calls
        /// What is recorded.
        case recording
        /// Further sources, which are opened while somebody uses them.
        case definitions
    }

    package struct Traits: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) {
            self.rawValue = rawValue
        }

        package static let required = Traits(rawValue: 1)
        /// Allowed only if the source is RTSP.
        package static let rtspOnly = Traits(rawValue: 2)
        /// Responses never include it.
        package static let secret = Traits(rawValue: 4)
        /// Responses include it.
        package static let shown = Traits(rawValue: 8)
        /// Null in a change removes it.
        package static let nullable = Traits(rawValue: 16)
        /// Not allowed in a configuration file.
        package static let apiOnly = Traits(rawValue: 32)
        /// Not available in the API.
        package static let fileOnly = Traits(rawValue: 64)
        /// Allowed only if the source is a V4L2 device.
        package static let v4l2Only = Traits(rawValue: 128)

        /// The only kind of source that allows the key; `nil` if all do.
        package var onlyKind: CameraSourceKind? {
            if contains(.rtspOnly) { return .rtsp }
            return contains(.v4l2Only) ? .v4l2 : nil
        }
    }

    /// A condition on a value, in addition to its form.
    package struct Rule<Value>: Sendable {
        let requirement: String
        let allows: @Sendable (Value) -> Bool

        package init(_ requirement: String, _ allows: @escaping @Sendable (Value) -> Bool) {
            self.requirement = requirement
            self.allows = allows
        }
    }

    /// The name in the configuration file and in `cameras.json`.
    package let name: String
    /// The name in the API's JSON.
    package let member: String
    package let form: Form
    package let part: Part
    package let traits: Traits
    /// The name of another key that must be given, too, if the value is not the default.
    package let needs: String?
    /// What the value must be, as text for the user.
    package let requirement: String
    package let defaultValue: JSONValue?

    /// The given value, if any.
    package let get: @Sendable (CameraSettings) -> JSONValue?
    /// Returns false if the value does not have the right form.
    package let set: @Sendable (JSONValue, inout CameraSettings) -> Bool
    package let clear: @Sendable (inout CameraSettings) -> Void
    /// Copies the value from the first to the second, if the first has one.
    package let take: @Sendable (CameraSettings, inout CameraSettings) -> Void
    /// Whether the value is allowed. True if no value is given.
    package let isAllowed: @Sendable (CameraSettings) -> Bool

    private init<Value>(
        _ name: String, member: String?, _ place: CameraPlace<Value>, form: Form, part: Part, traits: Traits,
        needs: String?, rule: Rule<Value>, read: @escaping @Sendable (JSONValue) -> Value?,
        write: @escaping @Sendable (Value) -> JSONValue
    ) {
        self.name = name
        self.member = member ?? name
        self.form = form
        self.part = part
        self.traits = traits
        self.needs = needs
        requirement = rule.requirement
        defaultValue = traits.contains(.required) ? nil : place.defaultValue.map(write)
        get = { place.get($0).map(write) }
        set = { json, settings in
            guard let value = read(json) else { return false }
            place.set(value, &settings)
            return true
        }
        clear = { place.set(nil, &$0) }
        take = { source, target in
            if let value = place.get(source) { place.set(value, &target) }
        }
        isAllowed = { settings in place.get(settings).map(rule.allows) ?? true }
    }

    // MARK: Rows

    static func text(
        _ name: String, _ place: CameraPlace<String>, form: Form = .text, part: Part, traits: Traits = [],
        needs: String? = nil, rule: Rule<String> = Rule("must be one value, not a list or a mapping") { _ in true }
    ) -> CameraKey {
        CameraKey(
            name, member: nil, place, form: form, part: part, traits: traits, needs: needs, rule: rule,
            read: \.stringValue, write: JSONValue.string)
    }

    static func wholeNumber(
        _ name: String, _ place: CameraPlace<Int>, in range: ClosedRange<Int>, part: Part, traits: Traits = []
    ) -> CameraKey {
        CameraKey(
            name, member: nil, place, form: .wholeNumber(range), part: part, traits: traits, needs: nil,
            rule: Rule("must be a whole number from \(range.lowerBound) to \(range.upperBound)", range.contains),
            read: { $0.integerValue.flatMap(Int.init(exactly:)) }, write: { .integer(Int64($0)) })
    }

    static func choice<Value: RawRepresentable<String> & CaseIterable & Sendable & Hashable>(
        _ name: String, member: String? = nil, _ place: CameraPlace<Value>, part: Part, traits: Traits = [],
        needs: String? = nil
    ) -> CameraKey {
        let names = Value.allCases.map(\.rawValue)
        return CameraKey(
            name, member: member, place, form: .choice(names), part: part, traits: traits, needs: needs,
            rule: Rule("must be one of " + names.joined(separator: ", ")) { _ in true },
            read: { $0.stringValue.flatMap(Value.init(rawValue:)) }, write: { .string($0.rawValue) })
    }
}

extension CameraKey {
    package var isInFile: Bool { !traits.contains(.apiOnly) }
    package var isInAPI: Bool { !traits.contains(.fileOnly) }

    /// The default, as printed in `docs/configuration.md`.
    package var defaultText: String {
        switch defaultValue {
        case .string(let text)?: text
        case .integer(let number)?: "\(number)"
        default: "none"
        }
    }

    package static func named(_ name: String) -> CameraKey? {
        all.first { $0.name == name }
    }
}
