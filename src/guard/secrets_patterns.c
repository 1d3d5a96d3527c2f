#include "guard/secrets_patterns.h"

#include "base/cleanup.h"

/* Between a name and its value: in code, JSON, YAML, headers, and JSON inside of JSON. */
#define ASSIGN "\\\\?[\"']?\\s{0,3}[=:]\\s{0,3}\\\\?[\"']?"
/* Passwords in other languages. */
#define FOREIGN                                                                                              \
	"ntrase(?:\xc3\xb1|n)a|senha|clave|mot[ _]de[ "                                                      \
	"_]passe|kennwort|wachtwoord|has\xc5\x82o|l\xc3\xb6senord|adgangskode|"                              \
	"\xd0\x9f\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c|\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c|" \
	"\xe5\xaf\x86\xe7\xa0\x81|\xe5\xaf\x86\xe7\xa2\xbc|\xe5\x8f\xa3\xe4\xbb\xa4|"                        \
	"\xe3\x83\x91\xe3\x82\xb9\xe3\x83\xaf\xe3\x83\xbc\xe3\x83\x89|"                                      \
	"\xeb\xb9\x84\xeb\xb0\x80\xeb\xb2\x88\xed\x98\xb8|"                                                  \
	"\xc5\x9fifre|\xc5\x9eifre|parola|salasana|heslo|m\xe1\xba\xadt kh\xe1\xba\xa9u"
#define WORD3 "[a-z]{3,8} [a-z]{3,8} [a-z]{3,8} "
#define UUID  "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

/* Where a prefix is short, or could be the end of a word, \b asks for the beginning of one. The last run is
 * open wherever it can be: a token that is followed by more of its kind is still one. */
/* clang-format off */
const struct gb_secret_pattern gb_secret_patterns[] = {
    /* clouds */
    {"aws-access-key-id", "\\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16,}", "Amazon Web Services: id of a key"},
    {"aws-secret-access-key",
	"(?i)(?:aws_secret_access_key|aws_secret_key|secretaccesskey)" ASSIGN "\\K[A-Za-z0-9/+]{40,}",
	"Amazon Web Services: the key itself, by the name before it"},
    {"aws-session-token",
	"(?i)(?:aws_session_token|sessiontoken)" ASSIGN "\\K[A-Za-z0-9/+=]{64,}",
	"Amazon Web Services: temporary credentials"},
    {"aws-bedrock-key", "(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/=]{60,}", "Amazon Bedrock"},
    {"aws-mws-key", "amzn\\.mws\\." UUID, "Amazon Marketplace"},
    {"google-api-key", "AIza[A-Za-z0-9_-]{35,}", "Google Cloud and Maps, Gemini, Firebase"},
    {"google-client-secret", "GOCSPX-[A-Za-z0-9_-]{24,}", "Google OAuth client"},
    {"google-access-token", "\\bya29\\.[A-Za-z0-9_.-]{20,}", "Google OAuth"},
    {"google-refresh-token", "\\b1//0[A-Za-z0-9_-]{40,}", "Google OAuth"},
    {"azure-storage-key",
	"(?:AccountKey|SharedAccessKey)=\\K[A-Za-z0-9+/=]{40,}",
	"Azure storage, Service Bus, Event Hubs, IoT"},
    {"azure-client-secret", "[78]Q~[A-Za-z0-9._~-]{31,}", "Microsoft Entra application"},
    {"azure-sas-signature", "[?&;]sig=\\K[A-Za-z0-9%+/=]{40,}", "Azure shared access signature"},
    {"alibaba-access-key", "\\bLTAI[A-Za-z0-9]{16,}", "Alibaba Cloud"},
    {"tencent-secret-id", "\\bAKID[A-Za-z0-9]{32,}", "Tencent Cloud"},
    {"digitalocean-token", "\\bdo[opr]_v1_[0-9a-f]{64,}", "DigitalOcean"},
    {"heroku-key", "HRKU-[A-Za-z0-9_-]{36,}", "Heroku"},
    {"fly-token", "\\b(?:fo1_[A-Za-z0-9_-]{40,}|fm[12]_[A-Za-z0-9+/=_-]{60,})", "Fly.io"},
    {"netlify-token", "\\bnf[pcu]_[A-Za-z0-9]{36,}", "Netlify"},
    {"render-key", "\\brnd_[A-Za-z0-9]{24,}", "Render"},
    {"cloudflare-ca-key", "\\bv1\\.0-[0-9a-f]{24}-[0-9a-f]{100,}", "Cloudflare origin CA"},
    {"scaleway-key", "\\bSCW[A-Z0-9]{17,}", "Scaleway"},
    /* code, packages, delivery */
    {"github-token", "gh[pousr]_[A-Za-z0-9]{36,}", "GitHub"},
    {"github-fine-grained-token", "github_pat_[A-Za-z0-9_]{36,}", "GitHub"},
    {"gitlab-token", "\\bgl(?:pat|ptt|dt|rt|oas|cbt|imt|ft|soat|agent)-[A-Za-z0-9_.-]{20,}", "GitLab"},
    {"gitlab-runner-token", "GR1348941[A-Za-z0-9_-]{20,}", "GitLab"},
    {"bitbucket-password", "\\bATBB[A-Za-z0-9]{28,}", "Bitbucket application"},
    {"atlassian-token", "AT[AC]TT3[A-Za-z0-9_=-]{50,}", "Jira, Confluence, Bitbucket"},
    {"npm-token", "\\bnpm_[A-Za-z0-9]{36,}", "npm"},
    {"pypi-token", "pypi-AgE[A-Za-z0-9_-]{50,}", "PyPI"},
    {"rubygems-key", "\\brubygems_[0-9a-f]{48,}", "RubyGems"},
    {"nuget-key", "\\boy2[a-z0-9]{43,}", "NuGet"},
    {"crates-token", "\\bcio[A-Za-z0-9]{32,}", "crates.io"},
    {"clojars-token", "CLOJARS_[0-9a-z]{60,}", "Clojars"},
    {"docker-token", "\\bdckr_[po]at_[A-Za-z0-9_-]{24,}", "Docker Hub"},
    {"docker-config-auth", "\"auth\"\\s{0,2}:\\s{0,2}\"\\K[A-Za-z0-9+/=]{12,}", "Docker's config.json"},
    {"artifactory-key", "\\bAKCp[A-Za-z0-9]{60,}", "JFrog"},
    {"artifactory-reference", "\\bcmVmdGtuO[A-Za-z0-9]{50,}", "JFrog"},
    {"circleci-token", "CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[0-9a-f]{40,}", "CircleCI"},
    {"buildkite-token", "\\bbk(?:ua|ct|at)_[0-9a-f]{40,}", "Buildkite"},
    {"sonar-token", "\\bsq[upa]_[0-9a-f]{40,}", "SonarQube"},
    {"tailscale-key", "\\btskey-[a-z]{3,12}-[A-Za-z0-9-]{16,}", "Tailscale"},
    {"terraform-token", "\\.atlasv1\\.\\K[A-Za-z0-9_=-]{60,}", "Terraform Cloud"},
    {"pulumi-token", "\\bpul-[0-9a-f]{40,}", "Pulumi"},
    {"vault-token", "\\bhv[sbr]\\.[A-Za-z0-9_-]{24,}", "HashiCorp Vault"},
    {"doppler-token", "\\bdp\\.(?:pt|st|ct|sa|scim|audit)\\.[A-Za-z0-9._-]{40,}", "Doppler"},
    {"onepassword-token", "\\bops_eyJ[A-Za-z0-9+/=_-]{80,}", "1Password service account"},
    {"onepassword-secret-key",
	"\\bA3-[A-Z0-9]{6}-[A-Z0-9]{6,11}-[A-Z0-9]{5}-[A-Z0-9-]{5,}",
	"1Password"},
    {"postman-key", "PMAK-[0-9a-f]{24}-[0-9a-f]{34,}", "Postman"},
    /* models and what serves them */
    {"anthropic-key", "\\bsk-ant-[A-Za-z0-9_-]{32,}", "Anthropic"},
    {"openai-key",
	"\\bsk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{32,}|[A-Za-z0-9]{32,})",
	"OpenAI, DeepSeek and others"},
    {"openrouter-key", "\\bsk-or-v1-[0-9a-f]{64,}", "OpenRouter"},
    {"langfuse-key", "\\bsk-lf-" UUID, "Langfuse"},
    {"langsmith-key", "\\blsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10,}", "LangSmith"},
    {"huggingface-token", "\\b(?:hf_|api_org_)[A-Za-z0-9]{30,}", "Hugging Face"},
    {"replicate-token", "\\br8_[A-Za-z0-9]{36,}", "Replicate"},
    {"groq-key", "\\bgsk_[A-Za-z0-9]{40,}", "Groq"},
    {"xai-key", "\\bxai-[A-Za-z0-9]{60,}", "xAI"},
    {"perplexity-key", "\\bpplx-[A-Za-z0-9]{40,}", "Perplexity"},
    {"together-key", "\\btgp_v1_[A-Za-z0-9_-]{36,}", "Together"},
    {"nvidia-key", "\\bnvapi-[A-Za-z0-9_-]{50,}", "NVIDIA"},
    {"elevenlabs-key", "\\bsk_[0-9a-f]{48,}", "ElevenLabs"},
    {"pinecone-key", "\\bpcsk_[A-Za-z0-9_]{40,}", "Pinecone"},
    {"tavily-key", "\\btvly-[A-Za-z0-9-]{24,}", "Tavily"},
    {"jina-key", "\\bjina_[A-Za-z0-9_-]{40,}", "Jina"},
    {"firecrawl-key", "\\bfc-[0-9a-f]{32,}", "Firecrawl"},
    {"e2b-key", "\\be2b_[0-9a-f]{40,}", "E2B"},
    /* messages */
    {"slack-token", "\\bxox[abeoprs][-.][A-Za-z0-9.-]{10,}", "Slack"},
    {"slack-app-token", "\\bxapp-[0-9]-[A-Za-z0-9-]{20,}", "Slack"},
    {"slack-webhook",
	"hooks\\.slack\\.com/(?:services|workflows|triggers)/\\K[A-Za-z0-9_/]{20,}",
	"Slack"},
    {"discord-token",
	"\\b[MNO][DTjz][AEIMQUYcgk][wxyz0-5][A-Za-z0-9_-]{18,28}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_"
	"-]{27,}",
	"Discord bot"},
    {"discord-webhook",
	"discord(?:app)?\\.com/api/webhooks/[0-9]{17,20}/\\K[A-Za-z0-9_-]{40,}",
	"Discord"},
    {"telegram-token", ":AA[A-Za-z0-9_-]{33,}", "Telegram bot, without the number before it"},
    {"teams-webhook", "webhook\\.office\\.com/webhookb2/\\K[A-Za-z0-9@/-]{60,}", "Microsoft Teams"},
    {"twilio-key", "\\bSK[0-9a-f]{32,}", "Twilio"},
    {"sendgrid-key", "\\bSG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{16,}", "SendGrid"},
    {"mailgun-key", "\\bkey-[0-9a-f]{32,}", "Mailgun"},
    {"brevo-key", "\\bxkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16,}", "Brevo"},
    {"resend-key", "\\bre_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", "Resend"},
    /* money and shops */
    {"stripe-key", "\\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}", "Stripe"},
    {"stripe-webhook-secret", "\\bwhsec_[A-Za-z0-9+/=]{24,}", "Stripe, Svix"},
    {"square-token", "\\bsq0[a-z]{3}-[A-Za-z0-9_-]{22,}", "Square"},
    {"paypal-token",
	"access_token\\$(?:production|sandbox)\\$[0-9a-z]{16}\\$[0-9a-f]{32,}",
	"PayPal, Braintree"},
    {"plaid-token", "\\baccess-(?:sandbox|development|production)-" UUID, "Plaid"},
    {"razorpay-key", "\\brzp_(?:live|test)_[A-Za-z0-9]{14,}", "Razorpay"},
    {"flutterwave-key", "FLWSECK(?:_TEST)?-[A-Za-z0-9-]{12,}", "Flutterwave"},
    {"shopify-token", "\\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32,}", "Shopify"},
    {"facebook-token", "\\bEAA[A-Za-z0-9]{60,}", "Facebook, Instagram, Square"},
    /* work */
    {"notion-token", "\\b(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43,})", "Notion"},
    {"linear-key", "\\blin_(?:api|oauth)_[A-Za-z0-9]{32,}", "Linear"},
    {"figma-token", "\\bfig[dou]_[A-Za-z0-9_-]{40,}", "Figma"},
    {"airtable-token", "\\bpat[A-Za-z0-9]{14}\\.[0-9a-f]{64,}", "Airtable"},
    {"asana-token", "\\b[0-2]/[0-9]{16}(?:/[0-9]{16})?:[0-9a-f]{32,}", "Asana"},
    {"hubspot-token", "\\bpat-(?:na|eu|ap)[0-9]-" UUID, "HubSpot"},
    {"contentful-token", "CFPAT-[A-Za-z0-9_-]{43,}", "Contentful"},
    {"typeform-token", "\\btfp_[A-Za-z0-9_=-]{40,}", "Typeform"},
    {"dropbox-token", "\\bsl\\.[A-Za-z0-9_-]{60,}", "Dropbox"},
    {"mapbox-token", "\\bsk\\.eyJ[A-Za-z0-9_.-]{40,}", "Mapbox"},
    /* watching */
    {"newrelic-key", "\\bNR(?:AK|JS|II|IQ)-[A-Za-z0-9_-]{19,}", "New Relic"},
    {"datadog-key",
	"\\b(?:DD|DATADOG)_(?:API|APP|APPLICATION)_KEY" ASSIGN "\\K[0-9a-f]{32,}",
	"Datadog, by the name before it"},
    {"grafana-token", "\\bgl(?:c_[A-Za-z0-9+/=]{32,}|sa_[A-Za-z0-9]{32}_[0-9a-f]{8,})", "Grafana"},
    {"sentry-token", "\\bsntry[su]_[A-Za-z0-9+/=_-]{40,}", "Sentry"},
    {"sentry-dsn", "https?://\\K[0-9a-f]{32}(?=@)", "Sentry"},
    {"dynatrace-token", "\\bdt0[a-z][0-9]{2}\\.[A-Z0-9]{24}\\.[A-Z0-9]{48,}", "Dynatrace"},
    {"launchdarkly-key", "\\b(?:sdk|api)-" UUID, "LaunchDarkly"},
    {"posthog-key", "\\bph[cx]_[A-Za-z0-9]{40,}", "PostHog"},
    /* databases */
    {"supabase-key", "\\bsb(?:p_[0-9a-f]{40,}|_secret_[A-Za-z0-9_-]{20,})", "Supabase"},
    {"planetscale-key", "\\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,}", "PlanetScale"},
    {"databricks-token", "\\bdapi[0-9a-f]{32,}", "Databricks"},
    {"url-password", "://(?&userinfo)", "postgres://, mysql://, mongodb://, redis://, amqp://, https:// …"},
    {"url-token", "://\\K[A-Za-z0-9_]{20,100}(?=@)", "https://token@host"},
    {"oracle-password", "jdbc:oracle:thin:[^\\s/@:]{1,60}/\\K[^\\s@/]{3,64}(?=@)", "Oracle JDBC addresses"},
    {"pgpass",
	":(?:(?:5432|5433|6432):[A-Za-z0-9_*-]{1,60}|\\*:[A-Za-z_*][A-Za-z0-9_-]{0,60}):[A-Za-z0-9_*-]{1,60}:\\K[^\\s:]{4,}",
	".pgpass of PostgreSQL"},
    {"mysql-initial-password",
	"temporary password is generated for [^\\s:]{1,60}: ?\\K[^\\s]{6,}",
	"the log of a new MySQL server"},
    /* keys */
    {"private-key",
	"-----BEGIN (?:RSA |EC |DSA |OPENSSH |ENCRYPTED )?PRIVATE KEY-----(?:\\s{1,8}|\\\\n|\\\\r"
	"\\\\n)\\K[A-Za-z0-9+/=]{24}[A-Za-z0-9+/=\\s\\\\]*",
	"PEM, also as JSON spells it"},
    {"private-key-encrypted",
	"-----BEGIN (?:RSA |EC |DSA )PRIVATE KEY-----(?:\\s{1,8}|\\\\n)Proc-Type: 4,ENCRYPTED(?:"
	"\\s{1,8}|\\\\n)DEK-Info: [A-Z0-9-]{3,20},\\K[0-9A-F]{16}[A-Za-z0-9+/=\\s\\\\]{24,}",
	"PEM with a passphrase, old form"},
    {"pgp-private-key",
	"-----BEGIN PGP PRIVATE KEY BLOCK-----(?:\\r?\\n|\\\\n)(?:(?:Version|Comment): [^\\r\\n"
	"\\\\]{1,120}[\\r\\n\\\\])?(?:Comment: [^\\r\\n\\\\]{1,120}[\\r\\n\\\\])?\\K[A-Za-z0-9+/="
	"\\s\\\\]{24,}",
	"OpenPGP"},
    {"putty-private-key",
	"Private-Lines: [0-9]{1,3}[\\r\\n\\\\]\\K[A-Za-z0-9+/=\\s\\\\]{24,}",
	"PuTTY"},
    {"age-secret-key", "AGE-SECRET-KEY-1[A-Z0-9]{50,}", "age"},
    {"wireguard-key", "(?:PrivateKey|PresharedKey)\\s{0,2}=\\s{0,2}\\K[A-Za-z0-9+/]{43}=", "WireGuard"},
    {"kubernetes-key-data",
	"(?:client-key-data|\"client-key-data\")\\s?:\\s{0,2}\\K[A-Za-z0-9+/=\"]{40,}",
	"kubeconfig"},
    /* what passes by */
    {"jwt", "\\beyJ[A-Za-z0-9_-]{10,400}\\.[A-Za-z0-9_.-]{16,}", "JSON Web Token"},
    {"bearer-token", "(?i)\\bbearer\\s{1,2}\\K[A-Za-z0-9._~+/=-]{20,}", "Authorization: Bearer"},
    {"basic-auth",
	"(?i)authorization" ASSIGN "basic\\s{1,2}\\K[A-Za-z0-9+/=]{8,}",
	"Authorization: Basic"},
    {"api-key-header",
	"(?i)x-(?:api-key|auth-token|access-token|vault-token|gitlab-token|goog-api-key)" ASSIGN "\\K[A-Za-z0-9_.+/=-]{12,}",
	"headers of requests"},
    {"session-cookie",
	"(?i)(?:sessionid|session_id|connect\\.sid|jsessionid|phpsessid|csrftoken)=\\K[A-Za-z0-9%"
	"._-]{16,}",
	"cookies"},
    /* by the name before them: see secrets_named.h */
    {"named-password",
	"(?i)(?:pass(?:word|wd|wort|phrase|code)?|" FOREIGN "|pwd[=:\\s\"'\\]>]|psk[=:\\s\"'\\[]|pw=|_pw[ :]|pw[\"':][ :=]|pw = |pre-?shared[_-]?key[=:]|rootpw:|psw[=:\\s\"'\\]]|pswd|paswd|pword|passwrd|passkey|identified (?:with [a-z0-9_]{3,30} )?by|masterauth)(?&password)",
	"password=..., \"passwd\": \"...\", --password ..., in code, settings, addresses, commands"},
    {"named-secret",
	"(?i)(?:secret|token|api[ _-]?key|access[ _-]?key|private[ _-]?key|authorization|erlang[_.]cookie|credential(?:s)?|auth[_-]?key|(?:encryption|signing|cipher|crypto|aes|hmac|app)[_-]key)(?&secret)",
	"SECRET_KEY=..., api_key: ..., access_token=..., a header"},
    {"named-key",
	"(?i)(?:[_-]key|(?:account|shared|consumer|subscription|master|encryption|signing|admin|storage)key|[?&]key=|(?:unseal|recovery|license|master|encryption|premium|activation|product|serial|service|deploy|project|server|admin|shared|primary|join) key|_salt|new value:|access[_-]?code|auth[_-]?code|[?&]appid=|[?&]code=|[_.]auth| auth:|[.]login=|dockerconfigjson|auth=\\(|auth = \\(|session=|signature|[?&]sig=)(?&key)",
	"other names with key, auth, session; only if the value looks random"},
    {"call-password",
	"(?i)(?:login|authenticate|\\.auth|getconnection|pscredential|basic_?auth|credentials\\.basic|networkcredential|"
	"passwordauthentication|passwordcredential(?:s)?|authenticationtoken|iccredentials|awscredentials|"
	"simple_bind(?:_s)?|ldap_bind|wifi\\.begin|mysqli(?:_connect)?|mysql_p?connect|real_connect|pymysql\\.connect|"
	"mysqldb\\.connect|tor\\.connect|pdo|sequelize|oci_connect|imap_open|ftp_login|auth_password|plainauth|"
	"create_superuser|create_user|createuser|password_hash|hash_password|hashpw|hash::make|bcrypt|check_password|set_password|"
	"bcrypt\\.hash(?:sync)?|passwordencoder(?:\\(\\))?\\.encode|username_pw_set|ssh\\.connect|cookieparser|emailandpassword|credentials|\\.connect|(?:oracle|oracledb)\\.connect|dbi->connect|bearer_?auth|createhmac|createcipher|hash_hmac|hmac(?:256|512)|signwith|httpdigestauth|auth\\(\\)\\.basic|ftplib\\.ftp|password_verify|bcrypt\\.compare(?:sync)?|make_password|generate_password_hash|login_user|signin|loginas|jwt\\.(?:sign|verify|encode|decode))\\((?&call)",
	"server.login(\"user\", \"...\"), jwt.sign(payload, \"...\")"},
    {"command-password",
	"(?i)\\b(?:mysql|mariadb|curl|http -|https -|sshpass|login -|login [a-z0-9]|redis-cli|mongo|ldap|smbclient|sqlcmd|"
	"mosquitto|ipmitool|snmp|zip -|unzip|7z [aextl]|7za [aextl]|twine|ncftp|rabbitmq|useradd|usermod|openssl|ssh-keygen|plink|pscp|"
	"psftp|putty|lftp|htpasswd|net use|sqlplus|expdp|impdp|sqlldr|rman|convertto-securestring|evil-winrm|"
	"xfreerdp|rdesktop|crackmapexec|netexec|nxc |bloodhound|impacket|secretsdump|psexec|wmiexec|smbexec|smbmap|rpcclient|"
	"bcp |isql|osql|tsql|cqlsh|rar |unrar|wpa_passphrase|etcdctl|influx|snyk auth|vault operator unseal|schtasks|hydra|steghide|fcrackzip|pdftk|username |echo |printf |cypher-shell|slappasswd|beeline|medusa|signtool|certutil|pk12util|kadmin|addprinc|samba-tool|winexe|gnmic|mkpasswd|dscl|ejabberdctl|nuget push|nuget setapikey|net\\.exe use|security import|rclone obscure|bw unlock|ngrok authtoken|runas|auth add)(?&command)",
	"mysql -p..., curl -u user:..., sshpass -p ..."},
    {"option-password",
	"(?: -[uU] | --user | --username |[\"']-[uU][\"'], ?[\"'])(?&command)",
	"-u user -p ... of any program"},
    {"dsn-password",
	"(?i)(?:dsn[=: \"']|ource_name[=: ]|(?:sqlx?|mysql|gorm|db)\\.(?:open|connect|mustconnect)\\(|oracle(?:db)?\\.connect\\()(?&dsn)",
	"user:...@tcp(host)/database, as Go's drivers have it"},
    {"directive-password",
	"(?i)(?:enable (?:secret|password)|rootpw|rootbindpw|snmp-server community|(?:ro|rw)community|pre-shared-key|auth-pass [a-z0-9._-]{1,40}|auth_pass|wpa-psk|"
	"key-string|server-key|(?:tacacs|radius)-server key|isakmp key|authentication-key|digest-key [0-9]{1,3} md5|"
	"-password(?:-again)? password|bindpw|neighbor [0-9.]{7,15} password|chap password|authtoken|unlock-keychain -p|ecov -t|\\.(?:com|org|net|local|test)`? \\|)\\s(?&directive)",
	"enable secret ..., snmp-server community ..., rootpw ..."},
    {"credential-pair",
	"(?i)\\b(?:credentials|log ?in|sign in|logged in|account ?: |user(?:name)?(?: and |/)pass(?:word)?)(?&pair)",
	"credentials: admin / ..."},
    {"directive-auth", "\\b(?:AUTH|nickserv identify|NickServ IDENTIFY|NickServ identify|(?:admin|root) /)\\s(?&directive)",
	"AUTH ... of Redis, admin / ..."},
    {"digest-response", "\\bresponse=\"\\K[0-9a-f]{32}", "Authorization: Digest"},
    {"spray-password",
	"(?:\\[\\+\\] [^\\s\\\\:]{1,40}\\\\{1,2}[^\\s:\\\\]{1,40}:|Success: '[^\\s:']{1,60}:)\\K[^\\s:']{4,64}",
	"what tools report that try passwords"},
    {"nt-hash", ":[0-9]{3,6}:\\K[0-9a-f]{32}:[0-9a-f]{32}", "dumps of Windows accounts"},
    {"neo4j-auth", "NEO4J_AUTH" ASSIGN "[a-z0-9]{1,20}/\\K[^\\s\"'$]{5,64}", "neo4j/..."},
    {"sasl-password", "\\]:[0-9]{2,5}[ \\t]{1,8}[^\\s:]{1,60}:\\K[^\\s$]{4,64}", "sasl_passwd of Postfix"},
    {"expect-send",
	"(?i)assword[:?]? ?[\"*}]{1,2}\\s{1,12}(?:\\{ ?)?(?:exp_)?send (?:-- )?\"\\K[^\"\\\\\\s$]{4,64}(?=[\\\\\"])",
	"what an Expect script answers"},
    {"here-string-password",
	"(?:chpasswd <<< ?[\"'][a-z0-9_]{1,32}:|passwd [a-z0-9_]{1,32} <<< ?[$]?[\"']?)\\K[^\"'\\s$:]{4,64}",
	"chpasswd <<< root:..."},
    {"seed-phrase",
	"(?i)(?:mnemonic|(?:seed|recovery|secret)[ _-]?phrase|seed[ _-]?words)(?: is)?" ASSIGN
	"\\K" WORD3 WORD3 WORD3 "[a-z]{3,8} [a-z]{3,8} [a-z]{3}[a-z ]*",
	"the twelve words or more of a wallet"},
    {"one-time-code",
	"(?i)\\b(?:(?:verification|one-time|2fa|otp|sms) code(?: is)?:? |"
	"(?:otp|pin)(?: is|:|=) ?)\\K[0-9]{4,8}",
	"codes of a second factor, in messages"},
    {"debugger-pin", "\\bPIN: \\K[0-9]{3}-[0-9]{3}-[0-9]{3}", "the debugger of Werkzeug"},
    {"one-time-link", "[?&](?:code|otp|pin)=\\K[0-9]{5,8}", "codes of a second factor, in links"},
    {"ldap-hash",
	"\\{(?:(?:SHA|SSHA)(?:256|512)?|MD5|SMD5|CRYPT|PBKDF2|ARGON2)\\}\\K[A-Za-z0-9+/=$.,]{16,}",
	"{SSHA}..., as directories keep passwords"},
    {"password-hash",
	"\\$(?:6|5|1|apr1|y|2[aby]|argon2id?|scrypt)\\$[A-Za-z0-9./$,=+]{30,}",
	"crypt, bcrypt, argon2: what can be guessed at home"},
};
/* clang-format on */

const size_t gb_n_secret_patterns = GB_COUNT(gb_secret_patterns);
