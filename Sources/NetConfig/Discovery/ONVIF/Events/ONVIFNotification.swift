public import IoTCore

/// What a camera has noticed.
public struct ONVIFNotification: Hashable, Sendable {
    public enum Change: Hashable, Sendable {
        case begins
        case ends
        /// It has no duration.
        case happens
    }

    public var type: DetectionType
    public var change: Change
    /// Which of the camera's detectors noticed it: its topic and its sources. Several may notice the same at once.
    public var detector: String
}

extension ONVIFNotification {
    /// Which words of a topic's last parts mean what, in the order in which they are looked for. From the topics of
    /// ONVIF's Analytics service, Annex E, and those of makers: RuleEngine/MyRuleDetector/PeopleDetect and Visitor
    /// (Reolink), RuleEngine/TPSmartEventDetector with IsPeople (TP-Link), RuleEngine/CellMotionDetector/Motion with IsMotion.
    private static let words: [(String, DetectionType)] = [
        ("people", .human), ("person", .human), ("human", .human), ("face", .human), ("pedestrian", .human),
        ("vehicle", .car), ("car", .car), ("visitor", .doorbell), ("doorbell", .doorbell), ("dog", .pet), ("cat", .pet),
        ("animal", .pet), ("pet", .pet), ("cry", .cry), ("smoke", .smoke), ("fire", .fire), ("flame", .fire),
        ("sound", .sound), ("pir", .infrared), ("motion", .motion), ("vmd", .motion), ("field detector", .motion),
        ("line detector", .motion), ("line cross", .motion), ("intrusion", .motion), ("objects inside", .motion),
    ]
    /// The longest name of a detector.
    private static let longestDetector = 256

    /// The notifications of a PullMessagesResponse or of a Notify.
    static func read(_ response: XMLElement) -> [ONVIFNotification] {
        response.children("NotificationMessage").prefix(256).compactMap { element in
            guard let topic = element.child("Topic")?.text, topic.utf8.count <= 512,
                let message = element.descendant("Message", "Message")
            else { return nil }
            return read(topic, message)
        }
    }

    private static func read(_ topic: String, _ message: XMLElement) -> ONVIFNotification? {
        let data = items(message.child("Data"))
        // Without the prefixes of namespaces, which each camera chooses.
        let path = topic.split(separator: "/").map { part in
            String(part.split(separator: ":", omittingEmptySubsequences: false).last ?? "")
        }
        // The names of the data tell more than the topic: one topic may have IsPeople and IsVehicle.
        let names = data.map(\.name) + path.reversed()
        guard let type = names.lazy.compactMap({ Self.type(of: $0) }).first else { return nil }
        let states = data.compactMap { state(of: $0.value) }
        let change: Change
        if let state = states.first {
            change = state ? .begins : .ends
        } else if message.attribute("PropertyOperation") == "Deleted" {
            change = .ends
        } else if message.attribute("PropertyOperation") == "Initialized" {
            // A state that is not known yet, or a topic that has none.
            return nil
        } else {
            change = .happens
        }
        let sources = items(message.child("Source")).map { "\($0.name)=\($0.value)" }.sorted()
        let detector = ([path.joined(separator: "/")] + sources).joined(separator: " ")
        return ONVIFNotification(type: type, change: change, detector: String(detector.prefix(longestDetector)))
    }

    private static func items(_ element: XMLElement?) -> [(name: String, value: String)] {
        (element?.children("SimpleItem") ?? []).prefix(16).compactMap { item in
            guard let name = item.attribute("Name"), let value = item.attribute("Value") else { return nil }
            return (name, value)
        }
    }

    private static func type(of name: String) -> DetectionType? {
        let name = " " + separated(name) + " "
        return words.first { name.contains(" " + $0.0 + " ") }?.1
    }

    /// The words of a name in lower case, with spaces: `TPSmartEvent` is `tp smart event`. Only whole words count, because
    /// `Interface` is no face.
    private static func separated(_ name: String) -> String {
        let letters = Array(name.utf8)
        func isUpper(_ index: Int) -> Bool {
            letters.indices.contains(index) && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letters[index])
        }
        func isLower(_ index: Int) -> Bool {
            letters.indices.contains(index) && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letters[index])
        }
        var result: [UInt8] = []
        for index in letters.indices {
            guard isUpper(index) || isLower(index) else {
                result.append(UInt8(ascii: " "))
                continue
            }
            if isUpper(index), isLower(index - 1) || (isUpper(index - 1) && isLower(index + 1)) {
                result.append(UInt8(ascii: " "))
            }
            result.append(letters[index] | 0x20)
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// An `xs:boolean`; some cameras write it otherwise.
    private static func state(of value: String) -> Bool? {
        switch value.lowercased() {
        case "true", "1", "on", "active": true
        case "false", "0", "off", "inactive": false
        default: nil
        }
    }
}
