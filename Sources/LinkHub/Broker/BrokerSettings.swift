/// The text of `mosquitto.conf(5)` for the hub's own broker.
struct BrokerSettings {
    struct TLSListener {
        var host: String
        var port: Int
        var certificateFile: String
        var keyFile: String
    }

    var endpoint: BrokerEndpoint
    var tls: TLSListener?
    var plugin: String
    var securityFile: String
    /// The account to stay in: a broker started as root drops to another one and could not read its own files.
    var account: String
    var limits: BrokerLimits

    var text: String {
        let listener =
            switch endpoint {
            case .unixSocket(let path): "listener 0 \(path)"
            case .loopback(let port): "listener \(port) 127.0.0.1"
            }
        // `max_connections` stands behind the listener: before it, it would be that of a default listener, which would
        // then be opened too, on port 1883 of every interface.
        // Sessions and queues are not kept over a restart: the hub's store is the only truth. Nothing is retained,
        // since presence is the hub's to decide, and $SYS topics are off, since no client needs them.
        return """
            per_listener_settings false
            user \(account)
            allow_anonymous false
            persistence false
            retain_available false
            sys_interval 0
            set_tcp_nodelay true
            max_packet_size \(limits.packetBytes)
            max_inflight_messages \(limits.inflightMessages)
            max_queued_messages \(limits.queuedMessages)
            max_keepalive 300
            connection_messages false
            log_dest stderr
            log_type error
            log_type warning
            log_type notice
            plugin \(plugin)
            plugin_opt_config_file \(securityFile)
            \(tlsListener)\(listener)
            max_connections \(limits.connections)

            """
    }

    /// It comes first, so that whoever reaches the other listener knows that this one is open too. TLS 1.2 is the
    /// oldest version that is spoken. Without a host mosquitto listens on every address of both kinds; `::` would be
    /// IPv6 alone.
    private var tlsListener: String {
        guard let tls else { return "" }
        return """
            listener \(tls.port)\(tls.host == "::" ? "" : " " + tls.host)
            max_connections \(limits.connections)
            certfile \(tls.certificateFile)
            keyfile \(tls.keyFile)
            tls_version tlsv1.2

            """
    }
}
