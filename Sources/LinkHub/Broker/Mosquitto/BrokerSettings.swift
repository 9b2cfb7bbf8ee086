/// The text of `mosquitto.conf(5)` for the hub's own broker.
struct BrokerSettings {
    struct TLSListener {
        var host: String
        var port: Int
        var certificateFile: String
        var keyFile: String
    }

    /// The socket of the hub's own client, and of principals on this machine where `port` is `nil`.
    var socketPath: String
    /// A port of 127.0.0.1 for principals on this machine.
    var port: Int?
    var tls: TLSListener?
    var plugin: String
    var securityFile: String
    /// The account to run as. Without it, a broker started as root changes to another account, which cannot read these
    /// files.
    var account: String
    var limits: BrokerLimits

    var text: String {
        // The options of a listener follow its `listener` line. Before it, they would apply to a default listener,
        // which mosquitto would then also open, on port 1883 of every interface.
        //
        // The client id is the user name, which is the token's id. So a client can end only an earlier connection of
        // its own token, whatever client id it sends, and clients without `clean session` leave at most one session per
        // token. These sessions are kept for an hour, the shortest possible time.
        //
        // `memory_limit` is not set. mosquitto 2.0.11 counts all memory that its dynamic-security plugin frees, but not
        // all that it allocates. The count wraps below zero when credentials are deleted, and the broker then refuses
        // all clients, including the hub. The supervisor checks the process's memory.
        //
        // Sessions and queues are not kept over a restart, because the hub's store is the only source of truth.
        // Messages are not retained, because the hub decides on presence. $SYS topics are off, because no client needs
        // them.
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
            max_inflight_bytes \(limits.inflightBytes)
            max_queued_messages \(limits.queuedMessages)
            max_queued_bytes \(limits.queuedBytes)
            queue_qos0_messages false
            persistent_client_expiration 1h
            max_keepalive 300
            connection_messages false
            log_dest stderr
            log_type error
            log_type warning
            log_type notice
            plugin \(plugin)
            plugin_opt_config_file \(securityFile)
            \(tlsListener)\(port.map { listener("\($0) 127.0.0.1") } ?? "")\(listener("0 \(socketPath)"))
            """
    }

    /// Each listener counts its own connections, so a client that fills one does not block the others.
    private func listener(_ place: String) -> String {
        """
        listener \(place)
        max_connections \(limits.connections)
        use_username_as_clientid true

        """
    }

    /// The TLS listener is opened first: a client that reaches another listener then knows that this one is open too.
    /// TLS 1.2 is the oldest version accepted. Without a host, mosquitto listens on every IPv4 and IPv6 address; `::`
    /// would be IPv6 alone.
    private var tlsListener: String {
        guard let tls else { return "" }
        return listener("\(tls.port)\(tls.host == "::" ? "" : " " + tls.host)") + """
            certfile \(tls.certificateFile)
            keyfile \(tls.keyFile)
            tls_version tlsv1.2

            """
    }
}
