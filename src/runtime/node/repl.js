// Rewrites a source of a session as a script whose declarations persist: top-level declarations become
// properties of the global object, which can be redeclared. A source with top-level await or import becomes
// the body of an async function with its declarations outside.

// Edits @source; returns true if running it returns a promise.
function persistDeclarations(source) {
	if (!source.tree)
		return false;
	const {body} = source.tree;
	const is_async = source.hasAwait || body.some(node => node.type === 'ImportDeclaration');
	stripExports(source);
	const declared = new Set(), functions = new Set();
	for (const node of body)
		persistStatement(source, node.declaration ?? node, is_async, declared, functions);
	if (!is_async)
		return false;
	for (const node of body)
		persistVars(source, node, declared);
	const names = [...new Set([...declared, ...functions])];
	const head = (names.length ? `var ${names.join(',')};` : '') + `(async function ${WRAPPER}(){` +
		[...functions].map(name => `globalThis.${name}=${name};`).join('');
	source.edits.unshift({start: 0, end: 0, insert: head});
	const last = lastValue(source);
	if (last) {
		source.insert(last.start, 'return(');
		source.insert(last.end, ')');
	}
	source.insert(source.text.length, '\n})()');
	return true;
}

// The result expression: the last statement, or the default export if that is last.
function lastValue(source) {
	const last = source.last;
	if (last?.type === 'ExportDefaultDeclaration' && !last.declaration.type.endsWith('Declaration'))
		return last.declaration;
	return source.lastExpression;
}

// A session exports nothing: exported declarations become plain ones.
function stripExports(source) {
	for (const node of source.tree.body) {
		if (node.type === 'ExportDefaultDeclaration') {
			const anonymous = node.declaration.type.endsWith('Declaration') && !node.declaration.id;
			source.blank(node.start, node.declaration.start);
			if (anonymous || !node.declaration.type.endsWith('Declaration')) {
				source.insert(node.declaration.start, '(');
				source.insert(node.declaration.end, ')');
			}
		} else if (node.type === 'ExportNamedDeclaration') {
			source.blank(node.start, node.declaration ? node.declaration.start : node.start);
			if (!node.declaration)
				blankLines(source, node);
		} else if (node.type === 'ExportAllDeclaration') {
			blankLines(source, node);
		}
	}
}

// Remove @node but keep its newlines.
function blankLines(source, node) {
	source.replace(node.start, node.end, source.text.slice(node.start, node.end).replace(/[^\n]/g, ' '));
}

function persistStatement(source, node, is_async, declared, functions) {
	switch (node.type) {
	case 'ImportDeclaration':
		persistImport(source, node, declared);
		break;
	case 'FunctionDeclaration':
		if (node.id && is_async)
			functions.add(node.id.name);
		break;
	case 'ClassDeclaration':
		if (node.id) {
			source.insert(node.start, is_async ? `${node.id.name}=` : `var ${node.id.name}=`);
			source.insert(node.end, ';');
			declared.add(node.id.name);
		}
		break;
	case 'VariableDeclaration':
		if (is_async)
			assign(source, node, declared);
		else
			makeVar(source, node);
		break;
	}
}

// let and const become var; a declaration without initialiser resets the variable to undefined.
function makeVar(source, node) {
	if (node.kind === 'var')
		return;
	source.replace(node.start, node.start + node.kind.length, 'var'.padEnd(node.kind.length));
	for (const {id, init} of node.declarations)
		if (!init)
			source.insert(id.end, '=void 0');
}

// "const a = 1, {b} = c" becomes "void (a = 1), ({b} = c)"
function assign(source, node, declared) {
	source.replace(node.start, node.start + node.kind.length, 'void');
	for (const {id, init, start, end} of node.declarations) {
		namesOf(id).forEach(name => declared.add(name));
		source.insert(start, '(');
		source.insert(end, init ? ')' : node.kind === 'var' ? ')' : '=void 0)');
	}
}

// "import a, {b as c} from 'd'" becomes "void ({default:a,b:c}=await import('d'))"
function persistImport(source, node, declared) {
	const named = [], from = source.text.slice(node.source.start, node.source.end);
	let space = null;
	for (const {type, local, imported} of node.specifiers) {
		declared.add(local.name);
		if (type === 'ImportNamespaceSpecifier')
			space = local.name;
		else
			named.push(`${JSON.stringify(type === 'ImportDefaultSpecifier' ? 'default' : imported.name ?? imported.value)}:${local.name}`);
	}
	let code = `await import(${from})`;
	if (space)
		code = `${space}=${code}`;
	if (named.length)
		code = `({${named.join(',')}}=${space ? `(${code})` : code})`;
	const ends = source.text.slice(node.start, node.end).replace(/[^\n]/g, '');
	source.replace(node.start, node.end, `void (${code});${ends}`);
}

// var in a block or loop head is hoisted to the top level too.
function persistVars(source, node, declared) {
	if (node.type === 'VariableDeclaration' || FUNCTIONS.has(node.type) || node.type === 'ClassDeclaration')
		return;
	someNode(node, inner => {
		if (inner.type.startsWith('For')) {
			const head = inner.init ?? inner.left;
			if (head?.type === 'VariableDeclaration' && head.kind === 'var') {
				head.declarations.forEach(({id}) => namesOf(id).forEach(name => declared.add(name)));
				if (head.declarations.some(({init}) => !init) && inner.type === 'ForStatement')
					source.replace(head.start, head.end, 'void 0');
				else
					source.blank(head.start, head.start + 3);
				head.kind = 'kept';
			}
		}
		if (inner.type === 'VariableDeclaration' && inner.kind === 'var')
			assign(source, inner, declared);
		return false;
	}, false);
}
