import IoTCore
import Yams

/// Reads the tree of a configuration file and applies its keys. Collects all problems, not only the first.
struct ConfigurationReader {
    private let context: ConfigurationKey.Context
    private let keys: [ConfigurationKey]
    var configuration: Configuration
    private(set) var problems: [ConfigurationProblem] = []
    private var cameraNames: Set<String> = []

    init(context: ConfigurationKey.Context, configuration: Configuration, keys: [ConfigurationKey]) {
        self.context = context
        self.configuration = configuration
        self.keys = keys
    }

    /// - Returns: the tree, for the line numbers of problems that are found later.
    mutating func read(_ text: String) -> Node? {
        do {
            // An empty file means the defaults.
            guard let root = try Yams.compose(yaml: text), !root.isEmptyValue else { return nil }
            read(root, prefix: "")
            return root
        } catch let error as YamlError {
            problems.append(Self.problem(error, file: context.file))
        } catch {
            refuse(nil, nil, "is not valid YAML: \(error)")
        }
        return nil
    }

    private mutating func read(_ node: Node, prefix: String) {
        guard let mapping = node.mapping else {
            return refuse(node, prefix.isEmpty ? nil : prefix, "must be a mapping of keys to values")
        }
        for (keyNode, value) in mapping {
            let name = prefix.isEmpty ? keyNode.scalar?.string ?? "" : "\(prefix).\(keyNode.scalar?.string ?? "")"
            if name == "cameras" {
                readCameras(value)
            } else if let key = keys.first(where: { $0.name == name }) {
                do throws(ValueRefusal) {
                    try key.apply(value, context, &configuration)
                } catch {
                    refuse(value, name, error.reason)
                }
            } else if keys.contains(where: { $0.name.hasPrefix("\(name).") }) {
                // A section without keys, for example when everything below `hub:` is commented out, sets nothing.
                if !value.isEmptyValue { read(value, prefix: name) }
            } else {
                let known = keys.map(\.name) + keys.flatMap(\.sections) + ["cameras"]
                refuse(keyNode, name, Self.unknown(name, among: known))
            }
        }
    }

    // MARK: Cameras

    private mutating func readCameras(_ node: Node) {
        if node.isEmptyValue { return }
        guard let items = node.sequence else { return refuse(node, "cameras", "must be a list") }
        for (index, item) in items.enumerated() { readCamera(item, prefix: "cameras[\(index)]") }
    }

    private mutating func readCamera(_ item: Node, prefix: String) {
        guard let mapping = item.mapping else {
            return refuse(item, prefix, "must be a mapping with at least a name and a url")
        }
        let keys = CameraKey.all.filter(\.isInFile)
        var camera = CameraSettings()
        var seen: Set<String> = []
        for (keyNode, value) in mapping {
            let name = keyNode.scalar?.string ?? ""
            seen.insert(name)
            guard let key = keys.first(where: { $0.name == name }) else {
                refuse(keyNode, "\(prefix).\(name)", Self.unknown(name, among: keys.map(\.name)))
                continue
            }
            do throws(ValueRefusal) {
                try value.read(key, context, into: &camera)
            } catch {
                refuse(value, "\(prefix).\(name)", error.reason)
            }
        }
        for key in keys where key.traits.contains(.required) && !seen.contains(key.name) {
            refuse(item, "\(prefix).\(key.name)", "is missing")
        }
        for problem in camera.conflicts(with: camera.$url.given.map(CameraSource.init(checked:))) {
            refuse(mapping[Node(problem.key.name)] ?? item, "\(prefix).\(problem.key.name)", problem.reason)
        }
        guard camera.$name.given != nil else { return }
        if !cameraNames.insert(camera.name).inserted {
            refuse(mapping["name"] ?? item, "\(prefix).name", "'\(camera.name)' is the name of an earlier camera")
        }
        configuration.cameras.append(camera)
    }

    // MARK: Rules across keys

    mutating func checkTogether(_ root: Node?) {
        for conflict in configuration.conflicts() {
            var node = root
            for step in conflict.key.split(separator: ".") { node = node?[String(step)] }
            refuse(node, conflict.key, conflict.reason)
        }
    }

    // MARK: Problems

    private mutating func refuse(_ node: Node?, _ key: String?, _ reason: String) {
        problems.append(
            ConfigurationProblem(file: context.file, line: node?.mark?.line, key: key, reason: reason))
    }

    private static func unknown(_ name: String, among known: [String]) -> String {
        let nearest = known.map { (distance: EditDistance.between(name, $0), name: $0) }.min {
            $0.distance < $1.distance
        }
        guard let nearest, nearest.distance <= max(2, name.count / 3) else { return "is not a known key" }
        return "is not a known key; did you mean \(nearest.name)?"
    }

    private static func problem(_ error: YamlError, file: String) -> ConfigurationProblem {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            ConfigurationProblem(file: file, line: mark.line, key: nil, reason: "is not valid YAML here: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            ConfigurationProblem(
                file: file, line: context.mark.line, key: duplicates.joined(separator: ", "),
                reason: "appears twice in one mapping")
        default:
            ConfigurationProblem(file: file, line: nil, key: nil, reason: "is not valid YAML: \(error)")
        }
    }
}

extension Node {
    /// Whether the key has no value.
    fileprivate var isEmptyValue: Bool {
        guard let scalar else { return false }
        return scalar.style != .singleQuoted && scalar.style != .doubleQuoted
            && ["", "~", "null"].contains(scalar.string)
    }
}
