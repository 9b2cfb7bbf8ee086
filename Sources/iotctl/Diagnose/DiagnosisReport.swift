import GatewayAPI
import IoTCore

/// A diagnosis for people.
struct DiagnosisReport {
    let diagnosis: Diagnosis

    init(_ diagnosis: Diagnosis) {
        self.diagnosis = diagnosis
    }

    var text: String {
        var blocks: [String] = []
        if !diagnosis.stages.isEmpty { blocks.append(stages) }
        let measures = measures
        if !measures.isEmpty { blocks.append(Table.pairs(measures)) }
        blocks.append(verdict)
        return blocks.joined(separator: "\n\n")
    }

    private var stages: String {
        var table = Table("STAGE", "TRACK", "TIME", "FACTS")
        for stage in diagnosis.stages {
            let facts = (stage.facts.objectValue ?? [:]).sorted { $0.key < $1.key }.map {
                "\($0.key):\($0.value.stringValue ?? $0.value.jsonText)"
            }
            table.append(
                "\(stage.stage) \(stage.name)", stage.track?.rawValue ?? "-", Format.seconds(stage.time),
                facts.joined(separator: " "))
        }
        return table.text(width: Console.width)
    }

    private var measures: [(String, String)] {
        let times = diagnosis.times
        var pairs: [(String, String)] = []
        if let time = times.connection { pairs.append(("connecting (1-3)", Format.seconds(time))) }
        if let time = times.data { pairs.append(("first data (3-7)", Format.seconds(time))) }
        if let time = times.decoding { pairs.append(("decoding (7-9)", Format.seconds(time))) }
        if let time = times.processing {
            pairs.append(("processing Td", "\(Format.seconds(time.p50)), up to \(Format.seconds(time.p95))"))
        }
        if let distance = diagnosis.statistics?.audioVideoDistance {
            pairs.append(("picture ahead of sound", Format.seconds(distance)))
        }
        if let distance = diagnosis.statistics?.video?.keyFrameDistance {
            pairs.append(("key frame distance", Format.seconds(distance)))
        }
        if let route = diagnosis.route { pairs.append(("route", route)) }
        if !diagnosis.tracks.isEmpty { pairs.append(("tracks", Format.tracks(diagnosis.tracks))) }
        return pairs
    }

    private var verdict: String {
        guard !diagnosis.isHealthy else { return "\(diagnosis.device) is in order" }
        return diagnosis.findings.map { finding in
            (["\(finding.part.rawValue): \(finding.message)"] + finding.advice.map { "  check \($0)" })
                .joined(separator: "\n")
        }
        .joined(separator: "\n")
    }
}
